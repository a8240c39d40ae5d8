"""Further columns of a posterior: kinds of difference, effects, leave-one-out influence, batches."""
