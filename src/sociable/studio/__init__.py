"""The studio: a local web application over run folders. It shows pages and writes files; it plays nothing.

Runs are processes of their own. They and the studio meet in files of the run folder, so that a killed server loses nothing.
``application`` puts the pages together, ``security`` stands before them, ``server`` listens; each module in ``pages`` is one
subject with its routes. Starlette and uvicorn (extra ``studio``) are imported in this room only.
"""
