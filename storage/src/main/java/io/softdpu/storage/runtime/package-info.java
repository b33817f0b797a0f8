/**
 * What the three programs are built of. Not exported.
 *
 * <p>Role: {@link io.softdpu.storage.runtime.Session} is a session's life from {@code run} to its
 * end. It has {@link io.softdpu.storage.runtime.SessionSteps}, the control channels of its peers, a
 * {@link io.softdpu.storage.runtime.ControlLoop} to wait in, a {@link
 * io.softdpu.storage.runtime.WorkerGroup}, and where it fails a class that finds out why. A {@link
 * io.softdpu.storage.runtime.Worker} is one thread with one progress engine. It begins in its
 * configuration phase, where it carries out commands of the control thread under a lock; the
 * command to start takes it into the data path, where no lock is taken, nothing is allocated and
 * all work is done in the callbacks of tasks; when that ends it takes commands again, to be taken
 * down. {@link io.softdpu.storage.runtime.MessageMemory} is its memory for io_messages.
 *
 * <p>Thread rule: the constructor and the methods that say so belong to the control thread; all
 * that touches contexts, tasks and bufs runs on the worker's own thread.
 *
 * <p>Ownership: a worker owns its thread, its engine and all that was made by its commands, and
 * closes them before its thread ends.
 */
@NullMarked
package io.softdpu.storage.runtime;

import org.jspecify.annotations.NullMarked;
