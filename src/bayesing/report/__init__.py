"""From a file of spins to one HTML file: numbers, pictures, warnings in plain words, and how they came about."""
