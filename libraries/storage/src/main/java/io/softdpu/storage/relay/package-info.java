/**
 * The zero-copy service on the DPU: a bridge between one initiator and one storage target.
 *
 * <p>Role: {@link io.softdpu.storage.relay.ZeroCopyService} passes control messages on, and the
 * export of the initiator's memory with them, which it imports without mapping it. Its workers pass
 * io_messages on, verbatim, and never see the data: the target moves that itself.
 *
 * <p>Thread rule: {@code run} belongs to the control thread; each core has a thread of its own.
 *
 * <p>Ownership: the service owns its device, representor, channels, workers and the imported mmap,
 * and takes them down in the order of the guide.
 */
@NullMarked
package io.softdpu.storage.relay;

import org.jspecify.annotations.NullMarked;
