"""Warnings, all of them subclasses of :class:`BayesingWarning`. Wrong input is a plain ``ValueError``."""


class BayesingWarning(UserWarning):
    """Base class: ``warnings.simplefilter("error", bs.BayesingWarning)`` makes them all errors."""


class BoundWarning(BayesingWarning):
    """An estimate lies at the end of its range and is not to be taken at face value."""


class NotEquilibratedWarning(BayesingWarning):
    """A sampler's diagnostics say that its samples are not yet those of the model."""


class NotConvergedWarning(BayesingWarning):
    """A search ended before its slope was small enough."""


class LaplaceWarning(BayesingWarning):
    """The condition under which the Laplace prior gives the Gaussian result does not hold."""


class SaturationWarning(BayesingWarning):
    """The data lie at the edge of the spin glass or beyond, where the method cannot tell strengths apart."""
