"""The methods the paper compares with, all with one type of result."""
