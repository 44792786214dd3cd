"""Thin estimators, scikit-learn shaped."""
