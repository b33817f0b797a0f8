/**
 * Data path threads and their parts. Not exported.
 *
 * <p>Role: a {@link io.softdpu.storage.worker.Worker} is one thread with one progress engine. In
 * its configuration phase it executes commands of the control thread, which are passed under a
 * lock; then it runs the data path, which takes no lock, allocates nothing and does all work in the
 * callbacks of tasks; after that it executes commands again, until it is ended. {@link
 * io.softdpu.storage.worker.MessageMemory} is its memory for io_messages, {@link
 * io.softdpu.storage.worker.RdmaPair} its RDMA contexts.
 *
 * <p>Thread rule: the constructor and the methods that state so belong to the control thread; all
 * code that uses contexts, tasks and bufs runs on the worker's own thread.
 *
 * <p>Ownership: a worker owns its thread, its engine and all objects created by its commands, and
 * closes them before its thread ends.
 */
@NullMarked
package io.softdpu.storage.worker;

import org.jspecify.annotations.NullMarked;
