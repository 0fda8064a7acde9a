"""Readers of exports: one module a source, each turning a file into typed frames plus what it could not read."""
