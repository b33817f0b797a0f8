package io.softdpu.storage.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.softdpu.core.DpuException;
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
import io.softdpu.storage.Pipeline;
import io.softdpu.storage.SessionListener;
import io.softdpu.storage.SessionReport;
import io.softdpu.storage.SessionStep;
import io.softdpu.storage.StorageDefaults;
import io.softdpu.storage.control.ChannelEnd;
import io.softdpu.storage.control.ConsumerListener;
import io.softdpu.storage.control.ControlChannel;
import io.softdpu.storage.control.ControlChannels;
import io.softdpu.storage.wire.Blob;
import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.storage.wire.ControlMessageType;
import io.softdpu.storage.wire.ControlPayload;
import io.softdpu.storage.wire.RdmaConnectionRole;
import io.softdpu.testkit.Clause;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import javax.management.JMException;
import javax.management.ObjectName;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Service between a scripted target and a scripted initiator. */
class ServiceControlTest {
    private static final long LONG = ChannelEnd.DEADLINE_NANOS / 2;

    /** A timeout that is waited for; within it the peers of the test find each other. */
    private static final long SHORT = 2_000_000_000L;

    private static final String NAME = "service";
    private static final ControlPayload QUERY = new ControlPayload.QueryStorageRequest();

    @TempDir private Path folder;
    private Machine host;
    private Machine dpu;
    private Device hostDevice;
    private ChannelEnd target;
    private ChannelEnd initiator;
    private ZeroCopyService service;
    private CompletableFuture<SessionReport> end;
    private int lastMessageId = 100;
    private String deviceOfTheService = "03:00.0";
    private String representorOfTheService = "0b:00.0";
    private List<CpuBinding> cpusOfTheService = List.of(CpuBinding.any(), CpuBinding.any());

    @BeforeEach
    void openMachinesAndTarget() {
        host = Machine.builder(Side.HOST).fabricFolder(folder).open();
        dpu = Machine.builder(Side.DPU).fabricFolder(folder).open();
        hostDevice = host.findDevice("pf0").open();
        target = ChannelEnd.tcpServer("target");
    }

    @AfterEach
    void closeAll() {
        if (initiator != null) {
            initiator.close();
        }
        target.close();
        service.close();
        hostDevice.close();
        host.close();
        dpu.close();
    }

    @Test
    @Clause("sto-013")
    void shouldRelayAQueryWithAnIdOfItsOwnAndTheInitiatorsCorrelation() {
        connectAll(LONG);
        CompletableFuture<ControlMessage> asked = target.begin(c -> c.receive(LONG));
        CompletableFuture<ControlMessage> answer = ask(QUERY, 4711);

        ControlMessage relayed = ChannelEnd.await(asked);
        assertThat(relayed.payload()).isEqualTo(QUERY);
        assertThat(relayed.correlationId()).isEqualTo(4711);
        assertThat(relayed.messageId()).isNotEqualTo(lastMessageId);
        ControlPayload size = new ControlPayload.QueryStorageResponse(1 << 20, 512);
        target.run(c -> c.send(relayed.reply(size)));

        assertThat(ChannelEnd.await(answer))
                .isEqualTo(new ControlMessage(lastMessageId, 4711, size));
    }

    @Test
    @Clause("sto-060")
    void shouldPassAnErrorOfTheTargetOnVerbatim() {
        connectAll(LONG);
        ControlPayload.ErrorResponse error =
                new ControlPayload.ErrorResponse(0x7777, "the disk is on fire");

        assertAnswer(QUERY, request -> request.reply(error), error);
        assertFailed(Status.UNKNOWN, "the disk is on fire");
    }

    @Test
    @Clause({"sto-014", "sto-060"})
    void shouldTellBothThatTheTargetAnsweredWithAnotherType() {
        connectAll(LONG);
        String reason = "got=stop_storage_response, expected=query_storage_response";

        ControlPayload.ErrorResponse error =
                answerError(request -> request.reply(new ControlPayload.StopStorageResponse()));

        assertThat(error.status()).isEqualTo(Status.UNEXPECTED);
        assertThat(error.message()).contains(reason);
        assertFailed(Status.UNEXPECTED, reason);
    }

    @Test
    @Clause("sto-044")
    void shouldTellBothThatTheTargetDidNotAnswerInTime() {
        connectAll(SHORT);

        ControlMessage answer = ChannelEnd.await(ask(QUERY, 1));

        ControlPayload.ErrorResponse error = (ControlPayload.ErrorResponse) answer.payload();
        assertThat(error.status()).isEqualTo(Status.TIME_OUT);
        assertThat(error.message())
                .contains("from=tcp://", "request=query_storage_request", "waitedMillis=");
        assertFailed(Status.TIME_OUT, "query_storage_request");
    }

    @Test
    void shouldTellTheInitiatorThatTheTargetWentWhileItWasAsked() {
        connectAll(LONG);
        CompletableFuture<ControlMessage> asked = target.begin(c -> c.receive(LONG));
        CompletableFuture<ControlMessage> answer = ask(QUERY, 1);
        ChannelEnd.await(asked);
        target.run(ControlChannel::close);

        ControlPayload.ErrorResponse error =
                (ControlPayload.ErrorResponse) ChannelEnd.await(answer).payload();
        assertThat(error.status()).isEqualTo(Status.CONNECTION_RESET);
        assertFailed(Status.CONNECTION_RESET, "peer has ended");
    }

    @Test
    void shouldNotTakeWhatTheInitiatorSaysForTheReasonWhyTheTargetWent() {
        connectAll(LONG);
        ControlPayload.ErrorResponse word =
                ControlPayload.ErrorResponse.of(Status.INVALID_VALUE, "initiator's own reason");
        CompletableFuture<ControlMessage> asked = target.begin(c -> c.receive(LONG));
        initiator.run(c -> {
            c.send(new ControlMessage(1, 1, QUERY));
            c.send(new ControlMessage(0, 0, word));
        });
        ChannelEnd.await(asked);
        target.run(ControlChannel::close);

        assertFailed(Status.CONNECTION_RESET, "peer has ended: peer=tcp://");
    }

    @Test
    void shouldEndWhenTheInitiatorGoesWhileTheTargetIsAsked() {
        connectAll(LONG);
        CompletableFuture<ControlMessage> asked = target.begin(c -> c.receive(LONG));
        initiator.run(c -> c.send(new ControlMessage(1, 1, QUERY)));
        ChannelEnd.await(asked);
        initiator.run(ControlChannel::close);

        assertFailed(Status.CONNECTION_RESET, "peer has ended: peer=client of comch://" + NAME);
    }

    @Test
    void shouldGiveUpAnInitiatorThatFallsSilentAndTellBoth() {
        connectAll(SHORT);
        String reason =
                "initiator is inactive: peer=client of comch://"
                        + NAME
                        + ", expected=query_storage_request";

        CompletableFuture<ControlMessage> atTarget = target.begin(c -> c.receive(LONG));
        ControlMessage atInitiator = initiator.call(c -> c.receive(LONG));

        for (ControlMessage finalError : List.of(atInitiator, ChannelEnd.await(atTarget))) {
            assertThat(finalError.messageId()).isZero();
            var error = (ControlPayload.ErrorResponse) finalError.payload();
            assertThat(error.status()).isEqualTo(Status.TIME_OUT);
            assertThat(error.message()).contains("zero-copy ended the session: reason=" + reason);
        }
        assertFailed(Status.TIME_OUT, reason);
    }

    @Test
    void shouldEndWhenTheTargetGoesBeforeAnInitiatorHasCome() {
        connectTarget(LONG);
        target.run(ControlChannel::close);

        assertFailed(Status.CONNECTION_RESET, "peer has ended");
    }

    @Test
    void shouldEndWhenTheTargetSpeaksUnasked() {
        connectAll(LONG);
        target.run(c -> c.send(new ControlMessage(9, 9, new ControlPayload.ShutdownRequest())));

        assertFailed(Status.UNEXPECTED, "got=shutdown_request, expected=none");
    }

    @Test
    void shouldSayInTheTargetsOwnWordsThatItIsNotServed() {
        connectTarget(LONG);
        ControlPayload busy =
                ControlPayload.ErrorResponse.of(Status.FULL, "serves another client: client=a");
        target.run(c -> c.send(new ControlMessage(0, 0, busy)));

        assertFailed(Status.FULL, "serves another client: client=a");
    }

    @Test
    void shouldSayInTheTargetsOwnWordsThatItWasAborted() {
        connectTarget(LONG);
        ControlPayload.ErrorResponse word =
                ControlPayload.ErrorResponse.of(Status.CONNECTION_ABORTED, "target was aborted");
        target.run(c -> c.send(new ControlMessage(0, 0, word)));

        assertFailed(Status.CONNECTION_ABORTED, "target was aborted");
        assertThat(service.report().failure()).doesNotContain("Aborted while connecting");
    }

    @Test
    @Clause("sto-009")
    void shouldRefuseARequestWhoseTurnItIsNot() {
        connectAll(LONG);

        ControlMessage answer = ChannelEnd.await(ask(new ControlPayload.StartStorageRequest(), 3));

        ControlPayload.ErrorResponse error = (ControlPayload.ErrorResponse) answer.payload();
        assertThat(error.status()).isEqualTo(Status.UNEXPECTED);
        assertThat(error.message())
                .contains("got=start_storage_request, expected=query_storage_request");
        assertFailed(Status.UNEXPECTED, "got=start_storage_request");
    }

    @Test
    @Clause("sto-011")
    void shouldRefuseAnyOtherRequestThanAnInitAfterTheQuery() {
        connectAll(LONG);
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
                                            LONG)) {
                        assertThat(imported.sizeBytes()).isEqualTo(8192);
                    }
                });
    }

    /** Asks for transactions on 2 cores; the target looks at what it is asked, and refuses. */
    private void askInit(
            int transactions, BiConsumer<Blob, ControlPayload.InitStorageRequest> look) {
        connectAll(LONG);
        query();
        try (SharedMemory memory = SharedMemory.allocate(8192);
                Mmap mmap = exportable(memory)) {
            Blob export = Blob.of(mmap.exportPci(hostDevice));
            CompletableFuture<ControlMessage> answer =
                    ask(new ControlPayload.InitStorageRequest(transactions, 2, export), 8);
            ControlMessage init = target.call(c -> c.receive(LONG));
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

    private static List<String> threadsOfWorkers() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.startsWith("softdpu-zero-copy-"))
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
                assertThat(Pipeline.cpusOfThreads("softdpu-zero-co"))
                        .containsExactlyInAnyOrderElementsOf(
                                expected.subList(0, connection.contextIndex() + 1)));
    }

    /** All contexts of a worker have been started when it asks for its first connection. */
    @Test
    @Clause({"sto-101", "sto-102"})
    @Clause({"sto-007", "sto-076"})
    void shouldCreateOneInventoryOneEngineAndTwoRdmaContextsForEachWorker() {
        List<String> histograms = new ArrayList<>();
        connectWrongly(connection -> {
            if (connection.role() == RdmaConnectionRole.IO_DATA) {
                histograms.add(histogramOfLiveObjects());
            }
        });
        assertThat(histograms).hasSize(2);
        Map<String, Integer> ofEachWorker =
                Map.of(
                        BufInventory.class.getName(),
                        1,
                        ProgressEngine.class.getName(),
                        1,
                        Rdma.class.getName() + "Context",
                        2);
        ofEachWorker.forEach((type, count) -> {
            int withOneWorker = instances(type, histograms.getFirst());
            assertThat(withOneWorker).as(type).isPositive();
            assertThat(instances(type, histograms.getLast()))
                    .as(type)
                    .isEqualTo(withOneWorker + count);
        });
    }

    private static String histogramOfLiveObjects() {
        try {
            return ManagementFactory.getPlatformMBeanServer()
                    .invoke(
                            new ObjectName("com.sun.management:type=DiagnosticCommand"),
                            "gcClassHistogram",
                            new Object[] {new String[0]},
                            new String[] {String[].class.getName()})
                    .toString();
        } catch (JMException e) {
            throw new AssertionError("JVM does not tell its objects", e);
        }
    }

    private static int instances(String type, String histogram) {
        // A line is "  12:    3    96  io.softdpu.core.memory.BufInventory (io.softdpu.core)".
        return histogram
                .lines()
                .map(line -> line.strip().split(" +"))
                .filter(words -> words.length > 3 && words[3].equals(type))
                .mapToInt(words -> Integer.parseInt(words[1]))
                .sum();
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
        connectAll(LONG);
        query();
        try (SharedMemory memory = SharedMemory.allocate(8192);
                Mmap mmap = exportable(memory)) {
            CompletableFuture<ControlMessage> answer = beginInit(mmap);
            for (int i = 0; i < 4; i++) {
                ControlMessage create = target.call(c -> c.receive(LONG));
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
        target.run(c -> c.send(c.receive(LONG).reply(new ControlPayload.InitStorageResponse())));
        return answer;
    }

    @Test
    @Clause("sto-071")
    void shouldRefuseAnExportThatIsNone() {
        connectAll(LONG);
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
        connectAll(LONG);
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

    @Test
    @Clause("sto-054")
    void shouldGiveUpLookingForTheTargetWhenAborted() {
        target.run(ControlChannel::close);
        CountDownLatch looking = start(LONG, SessionStep.CONNECTING_TO_STORAGE);
        Pipeline.await(looking);

        service.abort("User requested abort");

        assertFailed(
                Status.CONNECTION_ABORTED,
                "Aborted while connecting to storage: reason=User requested abort");
        assertThat(service.report().failure()).startsWith("Aborted while connecting to storage: ");
    }

    @Test
    void shouldSayThatTheTargetIsNotThere() {
        target.run(ControlChannel::close);
        start(SHORT, SessionStep.CONNECTING_TO_STORAGE);

        assertFailed(Status.TIME_OUT, "storage target did not reply");
    }

    @Test
    @Clause({"sto-006", "sto-052", "sto-055"})
    void shouldFindTheTargetItIsToldAndNoticeAnInitiatorThatComesLater() {
        target.close();
        target = ChannelEnd.tcpServer("target", new InetSocketAddress("127.0.0.2", 0));
        connectTarget(SHORT);
        // An initiator may come when it likes: the control timeout does not hold for that.
        DpuException silence =
                catchThrowableOfType(
                        DpuException.class, () -> target.run(c -> c.receive(SHORT + SHORT / 4)));
        assertThat(silence).as("the target is told nothing").isNotNull();
        assertThat(silence.status()).isEqualTo(Status.TIME_OUT);
        assertThat(end).isNotDone();
        connectInitiator(hostDevice);
        query();

        service.abort("User requested abort");

        assertFailed(Status.CONNECTION_ABORTED, "User requested abort");
    }

    @Test
    @Clause({"sto-048", "sto-049"})
    void shouldServeOnTheDeviceBehindTheRepresentorThatItIsTold() {
        deviceOfTheService = "03:00.1";
        representorOfTheService = "0b:00.4";
        connectTarget(LONG);
        for (String other : List.of("pf0", "pf1")) {
            try (Device device = host.findDevice(other).open();
                    ProgressEngine engine = ProgressEngine.create();
                    ControlChannel client =
                            ControlChannels.makeComchClient(
                                    engine, device, NAME, ConsumerListener.none(), SHORT)) {
                DpuException failure =
                        catchThrowableOfType(DpuException.class, () -> client.awaitConnected(LONG));
                assertThat(failure.status()).as(other).isEqualTo(Status.NOT_FOUND);
            }
        }
        hostDevice.close();
        hostDevice = host.findDevice("pf1vf0").open();
        connectInitiator(hostDevice);
        query();

        service.abort("User requested abort");

        assertFailed(Status.CONNECTION_ABORTED, "User requested abort");
    }

    @Test
    @Clause("sto-056")
    void shouldGiveUpWaitingForAnInitiatorWhenAborted() {
        connectTarget(LONG);

        service.abort("User requested abort");

        assertFailed(
                Status.CONNECTION_ABORTED,
                "Aborted while connecting to client: reason=User requested abort");
    }

    @Test
    @Clause("sto-046")
    void shouldGiveUpWaitingForARequestWhenAborted() {
        connectAll(LONG);

        service.abort("User requested abort");
        service.abort("too late to count");

        assertFailed(Status.CONNECTION_ABORTED, "User requested abort");
    }

    @Test
    void shouldGiveUpWaitingForTheTargetsAnswerWhenAborted() {
        connectAll(LONG);
        CompletableFuture<ControlMessage> asked = target.begin(c -> c.receive(LONG));
        initiator.run(c -> c.send(new ControlMessage(1, 1, QUERY)));
        ChannelEnd.await(asked);

        service.abort("User requested abort");

        assertFailed(Status.CONNECTION_ABORTED, "User requested abort");
    }

    // ---- the other two

    private void query() {
        assertAnswer(
                QUERY,
                request -> request.reply(new ControlPayload.QueryStorageResponse(1 << 20, 512)),
                new ControlPayload.QueryStorageResponse(1 << 20, 512));
    }

    private CompletableFuture<ControlMessage> ask(ControlPayload request, int correlationId) {
        int id = ++lastMessageId;
        return initiator.begin(c -> {
            c.send(new ControlMessage(id, correlationId, request));
            return c.receive(LONG);
        });
    }

    private void assertAnswer(
            ControlPayload request,
            java.util.function.UnaryOperator<ControlMessage> reply,
            ControlPayload expected) {
        CompletableFuture<ControlMessage> answer = ask(request, 5);
        target.run(c -> c.send(reply.apply(c.receive(LONG))));
        assertThat(ChannelEnd.await(answer))
                .isEqualTo(new ControlMessage(lastMessageId, 5, expected));
    }

    private ControlPayload.ErrorResponse answerError(
            java.util.function.UnaryOperator<ControlMessage> reply) {
        CompletableFuture<ControlMessage> answer = ask(QUERY, 5);
        target.run(c -> c.send(reply.apply(c.receive(LONG))));
        ControlMessage message = ChannelEnd.await(answer);
        assertThat(message.type()).isEqualTo(ControlMessageType.ERROR_RESPONSE);
        assertThat(message.messageId()).isEqualTo(lastMessageId);
        return (ControlPayload.ErrorResponse) message.payload();
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

    private CountDownLatch start(long controlTimeoutNanos, SessionStep awaited) {
        CountDownLatch reached = new CountDownLatch(1);
        InetSocketAddress address = target.address();
        ServiceOptions.Builder options =
                ServiceOptions.builder()
                        .device(deviceOfTheService)
                        .representor(representorOfTheService)
                        .storageServer(address)
                        .commandChannelName(NAME)
                        .controlTimeoutNanos(controlTimeoutNanos);
        cpusOfTheService.forEach(options::cpu);
        service =
                ZeroCopyService.open(
                        dpu,
                        options.build(),
                        new SessionListener() {
                            @Override
                            public void step(SessionStep step, String detail) {
                                if (step == awaited) {
                                    reached.countDown();
                                }
                            }
                        });
        end = Pipeline.begin(service);
        return reached;
    }

    private void connectTarget(long controlTimeoutNanos) {
        CompletableFuture<Void> accepting =
                target.beginDo(c -> c.awaitConnected(ControlChannel.NO_TIMEOUT));
        CountDownLatch waiting = start(controlTimeoutNanos, SessionStep.WAITING_FOR_CLIENT);
        ChannelEnd.await(accepting);
        Pipeline.await(waiting);
    }

    private void connectAll(long controlTimeoutNanos) {
        connectTarget(controlTimeoutNanos);
        connectInitiator(hostDevice);
    }

    private void connectInitiator(Device device) {
        ProgressEngine[] engine = new ProgressEngine[1];
        initiator =
                new ChannelEnd(
                        "initiator",
                        () -> {
                            engine[0] = ProgressEngine.create();
                            return ControlChannels.makeComchClient(
                                    engine[0], device, NAME, ConsumerListener.none(), LONG);
                        },
                        () -> engine[0].close());
        initiator.run(c -> c.awaitConnected(LONG));
    }

    /** Also checks the final error that the service sends to its initiator. */
    private void assertFailed(Status status, String reason) {
        CompletableFuture<Void> listening =
                initiator == null
                        ? CompletableFuture.completedFuture(null)
                        : initiator.beginDo(ServiceControlTest::listenUntilTheEnd);
        DpuException failure = catchThrowableOfType(DpuException.class, () -> Pipeline.await(end));
        ChannelEnd.await(listening);
        assertThat(failure.status()).isEqualTo(status);
        assertThat(failure).hasMessageContaining(reason);
        assertThat(service.report().status()).isEqualTo(status);
        assertThat(service.report().failure()).isEqualTo(failure.getMessage());
    }

    private static void listenUntilTheEnd(ControlChannel channel) {
        DpuException goodbye =
                catchThrowableOfType(
                        DpuException.class,
                        () -> {
                            while (true) {
                                channel.receive(LONG);
                            }
                        });
        assertThat(goodbye.status()).isIn(Status.CONNECTION_RESET, Status.BAD_STATE);
    }
}
