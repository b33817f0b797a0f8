/**
 * Zero-copy service on the DPU: a relay between one initiator and one storage target.
 *
 * <p>Role: start with {@link io.softdpu.storage.relay.ZeroCopyService}. It relays control messages
 * and re-exports the initiator's memory, which it imports without mapping it. Its workers relay
 * io_messages verbatim and never access the data, which the target transfers itself.
 *
 * <p>Thread rule: {@code run} belongs to the control thread; each worker has a thread of its own.
 *
 * <p>Ownership: the service owns its device, representor, channels, workers and the imported mmap,
 * and releases them in the order of the guide.
 */
@NullMarked
package io.softdpu.storage.relay;

import org.jspecify.annotations.NullMarked;
