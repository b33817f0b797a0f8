package io.softdpu.rdma.roce;

import io.softdpu.core.Status;
import io.softdpu.core.memory.Permissions;
import io.softdpu.rdma.spi.ConnectRequest;
import io.softdpu.rdma.spi.EndpointListener;
import io.softdpu.rdma.spi.ProviderConnection;
import io.softdpu.rdma.spi.ProviderEndpoint;
import java.util.ArrayList;
import java.util.List;

/** Listener that keeps the requests, and the end of its connection. */
final class RecordingListener implements EndpointListener {
    final List<ConnectRequest> requests = new ArrayList<>();
    Status end;

    @Override
    public void requested(ProviderEndpoint from, ConnectRequest request) {
        requests.add(request);
    }

    @Override
    public void accepted(
            ProviderConnection connection, Permissions permissions, byte[] privateData) {}

    @Override
    public void rejected(ProviderConnection connection, byte[] privateData) {}

    @Override
    public void established(ProviderConnection connection) {}

    @Override
    public void ended(ProviderConnection connection, Status status, String reason) {
        end = status;
    }
}
