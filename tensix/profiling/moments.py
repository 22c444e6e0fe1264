"""What can be said of the variables that were noted when most was in use: plain data of a snapshot."""

from tensix.profiling.liveness import FLOWS, death_of, flow_of, place_of_copy

__all__ = []


def facts_of(moments, known):
    """Return which variables were not used any more at the moments of a recording; `known` keeps what was found out.

    A moment is the number of the block whose allocation it was, and what `bindings.moment` returned, numbers of blocks
    in place of addresses. Of it there is what `death_of` returns, with ``names``, the ``block`` of the moment, the
    ``blocks`` that the variables hold, and ``depth``, how many frames of the block's stack are further in. Without
    names and blocks there is ``at``, where in the source the operation is that runs, and the ``types`` of names there.
    """
    facts = {}
    for block, frames, held, types in moments:
        code, position, depth = frames[0]
        key = code, code.co_filename, position
        if key not in known:
            flow = flow_of(code)
            known[key] = [*flow.instructions[flow.at(position)].positions]
        if None not in known[key]:
            here = {"block": block, "depth": depth, "line": known[key][0], "at": known[key], "types": types}
            facts[key] = here | {"names": (), "blocks": [], "dead": [], "live": [], "made": [], "is_after": False}
        for number, place, names, part in held:
            code, position, depth = frames[place]
            key = code, code.co_filename, position, names
            if key not in known:
                known[key] = death_of(code, position, names)
            if known[key] is None and part:  # the variable is used again, most of the array is not
                key = code, code.co_filename, position, part
                if key not in known:
                    where = place_of_copy(code, position, *names)
                    known[key] = None if where is None else where | {"part": part}
            where = known[key]
            if where is not None:
                key = code, code.co_filename, names, where["line"], where["is_after"], where.get("part")
                here = {"names": names, "block": block, "depth": depth, "blocks": []}
                fact = facts.setdefault(key, where | here)
                if number not in fact["blocks"]:
                    fact["blocks"].append(number)
    FLOWS.clear()
    return [fact | {"names": list(fact["names"])} for fact in facts.values()]
