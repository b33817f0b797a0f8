package io.softdpu.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.capability.Capabilities;
import io.softdpu.core.capability.Capability;
import io.softdpu.core.device.DeviceLimit;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.Topology;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Limits that RDMA declares; providers' tests show that instances enforce them. */
class RdmaLimitsTest {
    @TempDir Path folder;

    private Machine open(String id, long most) {
        Topology.Builder topology = Topology.builder("limited");
        Topology.builtin()
                .functions()
                .forEach(f -> topology.add(f.toBuilder().limit(id, most).build()));
        return Machine.builder(Side.TARGET)
                .fabricFolder(folder.resolve("fabric"))
                .topology(topology.build())
                .open();
    }

    @Test
    void shouldDeclareWhatItsCapabilitiesTell() {
        assertThat(Capabilities.limitsOf("rdma"))
                .extracting(DeviceLimit::id)
                .containsExactly(
                        "rdma.max_message_size",
                        "rdma.max_send_queue_size",
                        "rdma.max_receive_queue_size",
                        "rdma.max_send_queue_elements",
                        "rdma.max_send_buffer_list_length",
                        "rdma.max_receive_buffer_list_length",
                        "rdma.max_connections",
                        "rdma.max_path_mtu",
                        "rdma.max_receive_tasks",
                        "rdma.max_send_tasks",
                        "rdma.max_send_immediate_tasks",
                        "rdma.max_read_tasks",
                        "rdma.max_write_tasks",
                        "rdma.max_write_immediate_tasks",
                        "rdma.max_atomic_compare_and_swap_tasks",
                        "rdma.max_atomic_fetch_and_add_tasks",
                        "rdma.max_remote_sync_event_get_tasks",
                        "rdma.max_remote_sync_event_notify_set_tasks",
                        "rdma.max_remote_sync_event_notify_add_tasks");
        assertThat(Capabilities.limitsOf("rdma"))
                .filteredOn(DeviceLimit::optional)
                .hasSameSizeAs(RdmaTaskType.values())
                .allMatch(limit -> limit.id().endsWith("_tasks"));
        for (DeviceLimit limit : Capabilities.limitsOf("rdma")) {
            try (Machine target = open(limit.id(), 1)) {
                assertThat(Capabilities.of(target.findDevice("t0"), "rdma").get(limit.capability()))
                        .as("without a provider there is nothing to lower")
                        .isEqualTo(Capability.limit(limit, 0));
            }
        }
    }

    @Test
    void shouldOpenNoMachineWithALimitThatItDoesNotDeclare() {
        assertThatThrownBy(() -> open("rdma.max_queue_pairs", 1))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.INVALID_VALUE))
                .hasMessageContainingAll(
                        "limit=rdma.max_queue_pairs",
                        "expected=a limit of rdma, one of [rdma.max_message_size,");
    }
}
