package io.softdpu.comch;

import io.softdpu.core.Side;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.testkit.Patience;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Process that makes a server map the same large memory on many connections, each with a consumer
 * of its own. Prints {@code answered RUNNING=n} with the states of the consumers, and runs until it
 * is killed.
 */
public final class MappingAttacker {
    private MappingAttacker() {}

    /** Arguments: fabric folder, number of connections, size of the memory. */
    public static void main(String[] arguments) {
        int connections = Integer.parseInt(arguments[1]);
        Machine machine = Machine.builder(Side.HOST).fabricFolder(Path.of(arguments[0])).open();
        Device device = machine.findDevice("pf0").open();
        ProgressEngine engine = ProgressEngine.create();
        SharedMemory memory = SharedMemory.allocate(Long.parseLong(arguments[2]));
        Mmap mmap =
                Mmap.create()
                        .setMemory(memory)
                        .setPermissions(
                                Permissions.of(
                                        AccessFlag.LOCAL_READ_WRITE, AccessFlag.PCI_READ_WRITE))
                        .addDevice(device)
                        .start();
        List<ComchClient> clients = new ArrayList<>();
        for (int i = 0; i < connections; i++) {
            ComchClient client = ComchClient.create(device, Card.NAME);
            engine.connect(client);
            client.setSendTasks(1, ComchSendTask::free, ComchSendTask::free);
            client.setControlTimeout(Patience.LIMIT);
            client.setConnectTimeout(Patience.LIMIT);
            client.setMessageCallback((connection, message) -> {});
            client.setConsumerCallbacks((connection, id) -> {}, (connection, id) -> {});
            client.start();
            clients.add(client);
        }
        while (!clients.stream().allMatch(client -> client.state() == ContextState.RUNNING)) {
            engine.await(Duration.ofMillis(20));
            for (ComchClient client : clients) {
                if (client.failure() != null) {
                    throw client.failure();
                }
            }
        }
        List<ComchConsumer> consumers = new ArrayList<>();
        for (ComchClient client : clients) {
            ComchConsumer consumer = ComchConsumer.create(client.connection(), mmap);
            engine.connect(consumer);
            consumer.setPostReceiveTasks(1, ComchPostReceiveTask::free, ComchPostReceiveTask::free);
            consumer.start();
            consumers.add(consumer);
        }
        while (consumers.stream().anyMatch(consumer -> consumer.state() == ContextState.STARTING)) {
            engine.await(Duration.ofMillis(20));
        }
        System.out.println(
                "answered RUNNING="
                        + consumers.stream()
                                .filter(consumer -> consumer.state() == ContextState.RUNNING)
                                .count()
                        + ", FULL="
                        + consumers.stream()
                                .filter(consumer -> consumer.failure() != null)
                                .filter(consumer ->
                                        consumer.failure().getMessage().contains("status=FULL"))
                                .count());
        while (true) {
            engine.await(Patience.LIMIT);
        }
    }
}
