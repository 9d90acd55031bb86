"""Importing: what other programs remember, read as data and recorded as such. `formats/` says which there are,
`import_run.py` carries an import out; each format is one module that turns a source into items."""
