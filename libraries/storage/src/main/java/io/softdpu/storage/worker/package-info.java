/**
 * Data path threads and the objects that they are made of. Not exported.
 *
 * <p>Role: a {@link io.softdpu.storage.worker.Worker} is one thread with one progress engine. It
 * begins in its configuration phase, where it carries out commands of the control thread under a
 * lock; the command to start takes it into the data path, where no lock is taken, nothing is
 * allocated and all work is done in the callbacks of tasks; when that ends it takes commands again,
 * to be taken down. {@link io.softdpu.storage.worker.MessageMemory} is its memory for io_messages,
 * {@link io.softdpu.storage.worker.RdmaPair} its RDMA contexts.
 *
 * <p>Thread rule: the constructor and the methods that say so belong to the control thread; all
 * that touches contexts, tasks and bufs runs on the worker's own thread.
 *
 * <p>Ownership: a worker owns its thread, its engine and all that was made by its commands, and
 * closes them before its thread ends.
 */
@NullMarked
package io.softdpu.storage.worker;

import org.jspecify.annotations.NullMarked;
