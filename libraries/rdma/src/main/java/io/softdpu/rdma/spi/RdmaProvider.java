package io.softdpu.rdma.spi;

import io.softdpu.core.device.Device;
import io.softdpu.core.device.DeviceInfo;

/**
 * A way in which RDMA instances reach each other: shared memory of one machine, or a network. Found
 * by {@link java.util.ServiceLoader}.
 *
 * <p>An RDMA instance opens an endpoint with every provider that supports its device, and a
 * connection's blob has a section for each. The connecting side takes the provider with the
 * smallest {@link #id()} that stands in the peer's blob and {@linkplain #reaches reaches} the peer.
 * What a provider says about reaching has to be symmetric, so that both sides choose the same.
 *
 * <p>Thread: any; a provider has no state of its own.
 */
public interface RdmaProvider {
    /** Short name in messages and blobs: 1 to 16 characters of ASCII. */
    String name();

    /** The number in blobs, 1 to 65,535, never given twice; smaller ones are preferred. */
    int id();

    /** Whether instances on this device can use this provider. */
    boolean supports(DeviceInfo device);

    /** What it can do on a device that it supports. */
    ProviderLimits limits(DeviceInfo device);

    /**
     * Whether the peer whose section this is can be reached from the device.
     *
     * @param section as {@link ProviderConnection#details()} of the peer returned it, or anything:
     *     it has crossed the network; not written to
     * @throws io.softdpu.core.DpuException INVALID_VALUE if it is none of this provider's,
     *     UNSUPPORTED_VERSION if it is of a later one
     */
    boolean reaches(Device device, byte[] section);

    /** Opens the provider's half of an RDMA instance; on the thread of its engine. */
    ProviderEndpoint open(EndpointConfig config, EndpointListener listener);
}
