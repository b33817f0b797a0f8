/**
 * How work gets done (Core guide, section 3.4, in the words of later releases): a {@link
 * io.softdpu.core.execution.Context} does it, a {@link io.softdpu.core.execution.Task} describes a
 * piece of it, and a {@link io.softdpu.core.execution.ProgressEngine} drives contexts, by polling,
 * by waiting, or from the program's own event loop.
 *
 * <p>An engine belongs to the thread that created it, with the contexts that are connected to it
 * and their tasks. Callbacks run inside its progress and nowhere else, so a program without locks
 * is right as long as it keeps to one thread an engine. The guide's own, older form stands beside
 * it: a {@link io.softdpu.core.execution.WorkQueue} of a thread takes {@link
 * io.softdpu.core.execution.Job}s for contexts that were started without an engine and that several
 * threads may share. The program owns engines, queues and contexts and closes them, contexts before
 * engines, queues before contexts; tasks belong to the pool of their context, which lends them out.
 */
@NullMarked
package io.softdpu.core.execution;

import org.jspecify.annotations.NullMarked;
