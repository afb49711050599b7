"""Methods that infer the couplings J_ij and the fields h_i, one a file."""
