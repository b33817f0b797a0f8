/**
 * The provider contract: what stands between an RDMA instance and the way its bytes travel. {@link
 * io.softdpu.rdma.spi.RdmaProvider} is found by the service loader; for a started instance it opens
 * a {@link io.softdpu.rdma.spi.ProviderEndpoint}, and that a {@link
 * io.softdpu.rdma.spi.ProviderConnection} for each peer. The instance checks states, permissions
 * and bounds; the provider moves bytes, keeps the order, and reports to an {@link
 * io.softdpu.rdma.spi.EndpointListener}.
 *
 * <p><b>Thread.</b> All of it belongs to the engine's thread; a provider that has threads of its
 * own hands over by rings or the mailbox. Listener calls come inside progress only.
 *
 * <p><b>Ownership.</b> A {@link io.softdpu.rdma.spi.WorkRequest} is the provider's from a
 * successful submit until it is reported; the provider allocates nothing in between. Exported to
 * providers only.
 */
@NullMarked
package io.softdpu.rdma.spi;

import org.jspecify.annotations.NullMarked;
