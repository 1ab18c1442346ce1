"""DeepTide, a terminal coding agent for DeepSeek. Importing the package costs nothing."""

__version__ = "0.1.0"
