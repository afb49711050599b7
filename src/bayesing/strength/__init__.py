"""Methods that infer the hyperparameters gamma = J^2 and H, one a file."""
