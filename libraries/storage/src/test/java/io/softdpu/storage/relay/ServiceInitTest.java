package io.softdpu.storage.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.CpuBinding;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.Mapping;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.linux.Affinity;
import io.softdpu.rdma.Rdma;
import io.softdpu.storage.LiveObjects;
import io.softdpu.storage.Pipeline;
import io.softdpu.storage.StorageDefaults;
import io.softdpu.storage.control.ChannelEnd;
import io.softdpu.storage.control.ControlChannel;
import io.softdpu.storage.wire.Blob;
import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.storage.wire.ControlPayload;
import io.softdpu.storage.wire.RdmaConnectionRole;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.LogCapture;
import io.softdpu.testkit.Patience;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Init step of a service between a scripted target and a scripted initiator. */
class ServiceInitTest extends ServiceFixture {
    @Test
    @Clause("sto-011")
    void shouldRefuseAnyOtherRequestThanAnInitAfterTheQuery() {
        connectAll(Patience.NANOS);
        query();

        ControlMessage answer = ChannelEnd.await(ask(new ControlPayload.StartStorageRequest(), 3));

        ControlPayload.ErrorResponse error = (ControlPayload.ErrorResponse) answer.payload();
        assertThat(error.status()).isEqualTo(Status.UNEXPECTED);
        assertThat(error.message())
                .contains("got=start_storage_request, expected=init_storage_request");
        assertFailed(Status.UNEXPECTED, "got=start_storage_request");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 5, StorageDefaults.MAX_TRANSACTION_COUNT})
    @Clause({"sto-063", "sto-067", "sto-068"})
    @Clause({"sto-013", "sto-061"})
    void shouldAskTheTargetForTwiceTheTransactionsOnAsManyCores(int transactions) {
        cpusOfTheService = Collections.nCopies(3, CpuBinding.any());
        askInit(
                transactions,
                (_, relayed) -> {
                    assertThat(relayed.transactionCount()).isEqualTo(2 * transactions);
                    assertThat(relayed.coreCount()).isEqualTo(2);
                    assertThat(threadsOfWorkers()).as("before the target's answer").isEmpty();
                });
    }

    @Test
    @Clause({"sto-065", "sto-069"})
    void shouldGiveTheTargetAnExportOfTheInitiatorsMemoryOfItsOwn() {
        askInit(
                5,
                (export, relayed) -> {
                    assertThat(relayed.mmapExport()).isNotEqualTo(export);
                    try (Machine machine =
                                    Machine.builder(Side.TARGET).fabricFolder(folder).open();
                            Device device = machine.findDevice("t0").open();
                            Mmap imported =
                                    Mmap.createFromExport(
                                            relayed.mmapExport().bytes(),
                                            device,
                                            Mapping.ACCESS,
                                            Patience.LIMIT)) {
                        assertThat(imported.sizeBytes()).isEqualTo(8192);
                    }
                });
    }

    /** Asks for transactions on 2 cores; the target looks at what it is asked, and refuses. */
    private void askInit(
            int transactions, BiConsumer<Blob, ControlPayload.InitStorageRequest> look) {
        connectAll(Patience.NANOS);
        query();
        try (SharedMemory memory = SharedMemory.allocate(8192);
                Mmap mmap = exportable(memory)) {
            Blob export = Blob.of(mmap.exportPci(hostDevice));
            CompletableFuture<ControlMessage> answer =
                    ask(new ControlPayload.InitStorageRequest(transactions, 2, export), 8);
            ControlMessage init = target.call(c -> c.receive(Patience.LIMIT));
            assertThat(init.correlationId()).isEqualTo(8);
            look.accept(export, (ControlPayload.InitStorageRequest) init.payload());
            ControlPayload refusal = ControlPayload.ErrorResponse.of(Status.FULL, "no room: on=t0");
            target.run(c -> c.send(init.reply(refusal)));
            assertThat(ChannelEnd.await(answer).payload()).isEqualTo(refusal);
            assertFailed(Status.FULL, "no room: on=t0");
        }
    }

    @Test
    @Clause({"sto-075", "sto-076", "sto-077"})
    void shouldConnectEachCoreTwiceFirstForDataAndThenForControl() {
        List<String> asked = new ArrayList<>();
        Set<Blob> details = new HashSet<>();
        connectWrongly(connection -> {
            asked.add(connection.contextIndex() + " " + connection.role());
            details.add(connection.connectionDetails());
        });
        assertThat(asked).containsExactly("0 IO_DATA", "0 IO_CONTROL", "1 IO_DATA", "1 IO_CONTROL");
        assertThat(details).as("each of a context of its own").hasSize(4);
    }

    @Test
    @Clause({"sto-072", "sto-104"})
    void shouldPrepareOneWorkerAfterTheOther() {
        connectWrongly(connection -> {
            assertThat(threadsOfWorkers()).hasSize(connection.contextIndex() + 1);
            assertThat(connection.connectionDetails().bytes()).isNotEmpty();
        });
    }

    /** No context of RDMA can run before the target has answered, which waits for the look. */
    @Test
    @Clause("sto-074")
    void shouldCreateTheObjectsOfEachWorkerByACommandThatDoesNotWaitForItsContexts() {
        Logger logger = Logger.getLogger("io.softdpu.storage.zero-copy");
        Level level = logger.getLevel();
        logger.setLevel(Level.FINE);
        try (LogCapture log = new LogCapture(logger.getName())) {
            connectWrongly(connection -> {
                assertThat(log.with("objects created: ")).hasSize(connection.contextIndex() + 1);
                assertThat(log.with("objects created: worker=" + connection.contextIndex()))
                        .singleElement()
                        .extracting(LogRecord::getMessage)
                        .asString()
                        .contains(
                                ", device=" + deviceOfTheService + " p0, connection=connection of ",
                                ", transactionCount=" + 2 * 5 + ", notRunning=")
                        .contains(" STARTING");
            });
        } finally {
            logger.setLevel(level);
        }
    }

    private static List<String> threadsOfWorkers() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.matches("softdpu-\\d+-zero-copy"))
                .toList();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @Clause("sto-073")
    void shouldBindEachWorkerToTheCpuOfItsNumberWhenItCreatesIt(boolean reversed) throws Exception {
        int last = Affinity.allowed().length() - 1;
        String anywhere =
                Files.readAllLines(Path.of("/proc/self/status")).stream()
                        .filter(line -> line.startsWith("Cpus_allowed_list:"))
                        .map(line -> line.substring(line.indexOf(':') + 1).strip())
                        .findFirst()
                        .orElseThrow();
        List<CpuBinding> cpus = List.of(CpuBinding.any(), CpuBinding.hard(last));
        List<String> lists = List.of(anywhere, String.valueOf(last));
        cpusOfTheService = reversed ? cpus.reversed() : cpus;
        List<String> expected = reversed ? lists.reversed() : lists;
        connectWrongly(connection ->
                assertThat(
                                IntStream.rangeClosed(0, connection.contextIndex())
                                        .mapToObj(index -> "softdpu-" + index + "-zero-")
                                        .flatMap(name -> Pipeline.cpusOfThreads(name).stream()))
                        .containsExactlyElementsOf(
                                expected.subList(0, connection.contextIndex() + 1)));
    }

    /** All contexts of a worker have been started when it asks for its first connection. */
    @Test
    @Clause({"sto-101", "sto-102"})
    @Clause({"sto-007", "sto-076"})
    void shouldCreateOneInventoryOneEngineAndTwoRdmaContextsForEachWorker() {
        List<LiveObjects> moments = new ArrayList<>();
        connectWrongly(connection -> {
            if (connection.role() == RdmaConnectionRole.IO_DATA) {
                moments.add(LiveObjects.now());
            }
        });
        assertThat(moments).hasSize(2);
        Map<String, Integer> ofEachWorker =
                Map.of(
                        BufInventory.class.getName(),
                        1,
                        ProgressEngine.class.getName(),
                        1,
                        Rdma.class.getName() + "Context",
                        2);
        ofEachWorker.forEach((type, count) -> {
            int withOneWorker = moments.getFirst().instances(type);
            assertThat(withOneWorker).as(type).isPositive();
            assertThat(moments.getLast().instances(type)).as(type).isEqualTo(withOneWorker + count);
        });
    }

    @ParameterizedTest
    @CsvSource({"0, IO_CONTROL", "1, IO_DATA"})
    @Clause({"sto-014", "sto-071"})
    void shouldRefuseAConnectionOfAnotherContextOrRole(int index, RdmaConnectionRole role) {
        connectWrongly(_ -> {}, index, role);
    }

    /** Looks at each request for a connection; the last is answered for another context. */
    private void connectWrongly(Consumer<ControlPayload.CreateRdmaConnectionRequest> look) {
        connectWrongly(look, 0, RdmaConnectionRole.IO_CONTROL);
    }

    /** The last of the four connections, that of 1 IO_CONTROL, is answered for another. */
    private void connectWrongly(
            Consumer<ControlPayload.CreateRdmaConnectionRequest> look,
            int wrongIndex,
            RdmaConnectionRole wrongRole) {
        connectAll(Patience.NANOS);
        query();
        try (SharedMemory memory = SharedMemory.allocate(8192);
                Mmap mmap = exportable(memory)) {
            CompletableFuture<ControlMessage> answer = beginInit(mmap);
            for (int i = 0; i < 4; i++) {
                ControlMessage create = target.call(c -> c.receive(Patience.LIMIT));
                var connection = (ControlPayload.CreateRdmaConnectionRequest) create.payload();
                look.accept(connection);
                ControlPayload made =
                        i < 3
                                ? connectedTo(connection)
                                : new ControlPayload.CreateRdmaConnectionResponse(
                                        wrongIndex, wrongRole, connection.connectionDetails());
                target.run(c -> c.send(create.reply(made)));
            }

            ControlPayload.ErrorResponse error =
                    (ControlPayload.ErrorResponse) ChannelEnd.await(answer).payload();
            assertThat(error.status()).isEqualTo(Status.UNEXPECTED);
            assertThat(error.message())
                    .contains("got=" + wrongIndex + " " + wrongRole + ", expected=1 IO_CONTROL");
            // The service's consumers wait for the initiator to release their memory.
            initiator.run(ControlChannel::close);
            assertFailed(Status.UNEXPECTED, "connected another context");
        }
    }

    private CompletableFuture<ControlMessage> beginInit(Mmap mmap) {
        CompletableFuture<ControlMessage> answer =
                ask(
                        new ControlPayload.InitStorageRequest(
                                5, 2, Blob.of(mmap.exportPci(hostDevice))),
                        8);
        target.run(c ->
                c.send(c.receive(Patience.LIMIT).reply(new ControlPayload.InitStorageResponse())));
        return answer;
    }

    @Test
    @Clause("sto-071")
    void shouldRefuseAnExportThatIsNone() {
        connectAll(Patience.NANOS);
        query();

        ControlMessage answer =
                ChannelEnd.await(
                        ask(
                                new ControlPayload.InitStorageRequest(
                                        4, 1, Blob.of(new byte[] {1, 2, 3})),
                                1));

        ControlPayload.ErrorResponse error = (ControlPayload.ErrorResponse) answer.payload();
        assertThat(error.status()).isEqualTo(Status.INVALID_VALUE);
        assertFailed(Status.INVALID_VALUE, "");
    }

    @Test
    void shouldRefuseMoreTransactionsThanItsLimit() {
        connectAll(Patience.NANOS);
        query();

        ControlMessage answer =
                ChannelEnd.await(
                        ask(
                                new ControlPayload.InitStorageRequest(
                                        1_000_000_000, 1, Blob.of(new byte[] {1})),
                                1));

        ControlPayload.ErrorResponse error = (ControlPayload.ErrorResponse) answer.payload();
        assertThat(error.status()).isEqualTo(Status.INVALID_VALUE);
        assertThat(error.message()).contains("transactionCount=1000000000, expected=1 to 4096");
        assertFailed(Status.INVALID_VALUE, "transactionCount");
    }

    /** A well-formed reply, whose invalid details are detected later. */
    private static ControlPayload connectedTo(ControlPayload.CreateRdmaConnectionRequest request) {
        return new ControlPayload.CreateRdmaConnectionResponse(
                request.contextIndex(), request.role(), request.connectionDetails());
    }

    private Mmap exportable(SharedMemory memory) {
        return Mmap.create()
                .setMemory(memory)
                .setPermissions(
                        Permissions.of(
                                AccessFlag.LOCAL_READ_WRITE,
                                AccessFlag.PCI_READ_WRITE,
                                AccessFlag.RDMA_READ,
                                AccessFlag.RDMA_WRITE))
                .addDevice(hostDevice)
                .start();
    }
}
