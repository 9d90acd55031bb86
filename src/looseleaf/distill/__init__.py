"""Distillers: each turns material into a `Distilled` (`looseleaf.base.messages.Distiller`)."""
