"""`python -m dpverify`."""

from dpverify.cli import main

if __name__ == "__main__":
    main()
