"""The global null (no feature differs): what passes then, exactly, by simulation and by permuted labels."""
