/**
 * Execution of work (Core guide, section 3.4, in the terms of later releases): a {@link
 * io.softdpu.core.execution.Context} executes {@link io.softdpu.core.execution.Task}s, and a {@link
 * io.softdpu.core.execution.ProgressEngine} drives contexts, by polling, by waiting, or from the
 * program's own event loop. Start with {@link io.softdpu.core.execution.ProgressEngine#create}; the
 * libraries create the contexts, and the contexts the tasks.
 *
 * <p>An engine belongs to the thread that created it, with the contexts that are connected to it
 * and their tasks. Callbacks run inside its progress and nowhere else, so a program with one thread
 * per engine needs no locks. The guide's own, older form is also provided: a {@link
 * io.softdpu.core.execution.WorkQueue} of a thread accepts {@link io.softdpu.core.execution.Job}s
 * for contexts that were started without an engine and that several threads may share. The program
 * owns engines, queues and contexts and closes them, contexts before engines, queues before
 * contexts; tasks belong to the pool of their context, from which they are allocated.
 */
@NullMarked
package io.softdpu.core.execution;

import org.jspecify.annotations.NullMarked;
