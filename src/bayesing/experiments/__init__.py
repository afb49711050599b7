"""Every table and figure of the paper, as data (``specs/*.toml``) and one command (``bayesing reproduce``)."""
