"""Mutants that no test can kill, or none should: the line as the mutant has it, and why.

Most are equal to the original for every input, or differ in speed alone.
"""

EXPLAINED = {}
