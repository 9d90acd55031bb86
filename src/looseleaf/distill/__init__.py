"""Distillers: what stays of talk. Each takes material and gives a `Distilled` (`looseleaf.talk.Distiller`)."""
