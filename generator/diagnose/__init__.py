"""A log of one rank or of hundreds → the line and rank that started it, and how sure that is.

One module a step, each with a JavaScript twin of the same name in ``static/engine/diagnose/``, but for
``command``. What can be data is data: the bundle (signatures, content/lines) and
``knowledge.json`` (prefixes, Python's own texts, native errors, what explains what, the words of verdicts).

========== ================================================================================================
read       arguments → streams of UTF-8: files, folders, gzip, zstd, UTF-16 by its mark, standard input
scan       stream → kept lines. Literals of the bundle are looked for in bytes (``literals``: hyperscan,
           RE2, or one search each); kept are head, tail, and what stands around hits, the first ones of a
           family of lines whole, hundreds of further ones as single lines. Constant memory; the same
           lines whatever the chunks. Up to 128 KiB a log is kept whole
clean      bytes → text: UTF-8 with replacements, no escapes, no control characters
speaker    text → Line: prefixes taken off one by one give rank, local rank, pid, node, level, time; what is
           left is the body. Labels (``3: ``, ``worker-1 | ``) count where most lines of a file bear them.
           Lines that a terminal broke at its width are put together. ``stream`` names the speaker: file,
           node, rank or pid
match      bundle → Items; Lines → Hits of items, by literal then expression; ``needs`` and ``unless`` are
           looked for in the same stream, 200 lines before and 50 after
events     Lines → Events, with the state of one traceback a stream: exceptions (chained, re-raised from a
           worker, grouped, cut, without a header), native and tools' errors, loggers' errors, known lines
roles      Event → role, by the items that fit, then by the exception's type and message, then by the
           table of errors
attempts   Events → those of the last attempt, without faults after which the same rank went on
exits      known lines → exits: code (a signal is negative, whoever wrote it), pid, rank; a pid that a
           launcher ended is a victim
witness    known lines → testimony: who waited in which group at which step, who is named, who told of
           another's end; and whom the silence of the others points at
verdict    all that → Verdict (below)
report     Verdict → JSON, schema 1
text       JSON → words for a terminal or a ticket
========== ================================================================================================

The verdict takes the first of these that there is:

1. **A line of the failing process's own** (role cause, or an NCCL warning of a local reason) that is no
   consequence. Of exceptions that hang together the last one with such a role speaks; one that an entry's
   signature names goes before. A line that explains it (a compiler's error before the build's) takes its
   place. An error of a rank that had told before that it waited, or that another was gone, is a
   consequence, and so is a launcher's after it told how a worker ended. The same error on several ranks (equal letters at the beginning) is symmetric, and nobody
   is to blame. Established, unless another rank has a different error that nothing shows to be later, or
   a timeout was told before and nothing tells whose error it is: then suspected.
2. **The scheduler's or the kernel's word** (confirmation): supported.
3. **A death by a signal** that no launcher sent: supported with its rank, else suspected. SIGABRT counts
   only where nobody waited: it is how a watchdog ends its process. A task that srun tells killed after
   Slurm told that it ends the step died of that.
4. **A weak line** (ambiguous NCCL error, wrapper, logger's error, not finite loss, plain complaint, the
   end of a cut traceback), where nobody had waited before it: suspected.
5. **Testimony**: who is named by a witness; who ran another operation at the same step; who had not begun
   the step of the others; who alone is silent; rank 0 where nobody reached the store,
   or where it gave no answer in a barrier. Suspected, and
   supported where every member's status is known. The line is null.
6. **An exit code alone**: suspected with its rank.
7. Something failed, but none of these: undecided. Nothing failed: clean.

A launcher's summary, a peer's report, a timeout, teardown and advice are never the beginning.
"""
