"""Linear algebra, products and Fourier transforms."""
