"""From a file to sufficient statistics: who is a sample, which class it has, chunk by chunk."""
