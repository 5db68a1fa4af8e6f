"""What the tests need beyond Python: Node and npm from a wheel, the checkers from npm, a browser."""
