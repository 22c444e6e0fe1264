"""What ``python -m tensix`` can do, one module per command."""
