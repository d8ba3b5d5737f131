"""Comparison of two campaigns' results, cell by cell and over all cells: what changed?"""
