/**
 * Service provider interface between RDMA instances and transports. {@link
 * io.softdpu.rdma.spi.RdmaProvider} is found by ServiceLoader; for a started instance it opens a
 * {@link io.softdpu.rdma.spi.ProviderEndpoint}, which creates a {@link
 * io.softdpu.rdma.spi.ProviderConnection} per peer, or listens for a {@link
 * io.softdpu.rdma.spi.ConnectRequest} of each. The instance checks states, permissions and bounds;
 * the provider transfers bytes, preserves the order, and reports what happens to connections to an
 * {@link io.softdpu.rdma.spi.EndpointListener}.
 *
 * <p><b>Thread.</b> All objects belong to the engine's thread; a provider with threads of its own
 * communicates with it by rings or the mailbox. Listener and sinks are called inside progress only.
 *
 * <p><b>Ownership.</b> A {@link io.softdpu.rdma.spi.WorkRequest} belongs to the provider from a
 * successful submit until the call of its sink; the provider allocates nothing in between. Exported
 * to providers only.
 */
@NullMarked
package io.softdpu.rdma.spi;

import org.jspecify.annotations.NullMarked;
