/**
 * The zero-copy storage pipeline: an initiator on the host, a service on the DPU that only passes
 * messages on, and a target that moves the data itself, by RDMA, between its volume and the
 * initiator's memory.
 *
 * <p>Role: the three programs as their callers see them: {@link io.softdpu.storage.StorageRole},
 * the steps of its session, its listener, its reports and its defaults. The programs are {@link
 * io.softdpu.storage.server.StorageTarget}, {@link io.softdpu.storage.relay.ZeroCopyService} and
 * {@link io.softdpu.storage.initiator.StorageInitiator}.
 *
 * <p>Thread rule: a role's {@code run} belongs to one thread, its control thread; {@code abort} and
 * {@code report} may be called from any. Each data path core has a thread of its own that the role
 * starts and ends.
 *
 * <p>Ownership: a role owns the device, the representor, the channels, the memory and the threads
 * that it made, and takes all down when {@code run} ends; the {@code Machine} stays its caller's.
 */
@NullMarked
package io.softdpu.storage;

import org.jspecify.annotations.NullMarked;
