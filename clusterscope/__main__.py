"""`python -m clusterscope`."""

from clusterscope.cli import main

if __name__ == "__main__":
    main()
