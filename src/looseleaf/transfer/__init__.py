"""Import and export: what other programs remember, read as data and recorded as such; and a memory's own content, out.

`formats/` says which formats there are: each is one module that turns a source into items. `import_run.py` carries an
import out.
"""
