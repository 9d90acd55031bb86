"""Distillers: what stays of talk. Each takes material and gives a `Distilled` (`looseleaf.base.messages.Distiller`)."""
