package io.softdpu.rdma.spi;

import io.softdpu.core.device.DeviceInfo;

/**
 * Transport between RDMA instances: shared memory of one machine, or a network. Loaded by {@link
 * java.util.ServiceLoader}.
 *
 * <p>An RDMA instance opens an endpoint with every provider that supports its device, and a
 * connection's blob has a section for each. The connecting side selects the provider with the
 * smallest {@link #id()} that has a section in the peer's blob and whose endpoint {@linkplain
 * ProviderEndpoint#reaches reaches} the peer. Reachability has to be symmetric, so that both sides
 * select the same provider.
 *
 * <p>A provider that cannot open an endpoint, or whose endpoint throws a {@link
 * io.softdpu.core.DpuException} as it creates a connection, listens or connects, is left out of
 * that call, and its reason stands in the error of the call that needs it.
 *
 * <p>Thread: any; a provider is stateless.
 */
public interface RdmaProvider {
    /** Short name in messages and blobs: 1 to 16 characters of ASCII. */
    String name();

    /** The number in blobs, 1 to 65,535, unique; smaller ones are preferred. */
    int id();

    /** Whether instances on this device can use this provider. */
    boolean supports(DeviceInfo device);

    /** The limits on a device that it supports. */
    ProviderLimits limits(DeviceInfo device);

    /**
     * Opens the provider's endpoint of an RDMA instance; on the thread of its engine.
     *
     * @throws io.softdpu.core.DpuException if it cannot serve the instance: the instance starts
     *     without this provider if another can. It has released what it had.
     */
    ProviderEndpoint open(EndpointConfig config, EndpointListener listener);
}
