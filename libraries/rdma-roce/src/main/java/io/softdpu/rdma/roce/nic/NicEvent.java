package io.softdpu.rdma.roce.nic;

import io.softdpu.core.Status;

/**
 * Event of a connection for its engine.
 *
 * @param receives number of receives of the endpoint that were completed before
 * @param established whether it is established; else it has ended
 * @param status of the end, as {@link io.softdpu.rdma.spi.EndpointListener#ended}
 * @param reason of the end
 * @param requestStatus status of the requests that the NIC has not got before the end
 */
public record NicEvent(
        NicConnection connection,
        long receives,
        boolean established,
        Status status,
        String reason,
        Status requestStatus) {}
