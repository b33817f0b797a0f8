package io.softdpu.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.DeviceInfo;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.memory.Permissions;
import io.softdpu.junit.SoftDpu;
import io.softdpu.junit.SoftDpuTest;
import io.softdpu.rdma.spi.ConnectRequest;
import io.softdpu.rdma.spi.ConnectionBlob;
import io.softdpu.rdma.spi.EndpointConfig;
import io.softdpu.rdma.spi.EndpointListener;
import io.softdpu.rdma.spi.ProviderConnection;
import io.softdpu.rdma.spi.ProviderEndpoint;
import io.softdpu.rdma.spi.ProviderLimits;
import io.softdpu.rdma.spi.RdmaProvider;
import io.softdpu.rdma.spi.WorkRequest;
import io.softdpu.testkit.Patience;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Selection of one of two providers by connections, and what happens if one cannot serve. */
@SoftDpuTest(sanitized = false)
class ProviderSelectionTest {
    private static final int PORT = 13579;
    private static final byte[] NO_DATA = {};
    private static final RdmaAddress ADDRESS =
            RdmaAddress.of(RdmaAddress.Type.IPV4, "192.0.2.1", PORT);

    private final List<RdmaConnectionRequest> requests = new ArrayList<>();
    private final FakeProvider near = new FakeProvider(1);
    private final FakeProvider far = new FakeProvider(2);
    private ProgressEngine engine;
    private RdmaContext rdma;
    private ConnectionTable table;

    @BeforeEach
    void open(SoftDpu card) {
        Device device = card.targetDevice();
        engine = card.engine();
        rdma = new RdmaContext(device);
        rdma.setConnectionRequestCallback(requests::add);
        engine.connect(rdma);
        EndpointConfig ofOne = rdma.endpointConfig();
        EndpointConfig config =
                new EndpointConfig(
                        ofOne.device(),
                        ofOne.services(),
                        ofOne.permissions(),
                        ofOne.sendQueueSize(),
                        ofOne.receiveQueueSize(),
                        ofOne.maxSendListLength(),
                        ofOne.receiveListLength(),
                        3,
                        ofOne.pathMtuBytes(),
                        ofOne.gid(),
                        ofOne.rnrRetries(),
                        ofOne.rnrTimer(),
                        ofOne.connectTimeoutNanos());
        table = new ConnectionTable(rdma, config, List.of(near, far));
    }

    @AfterEach
    void close() {
        table.close();
        rdma.close();
    }

    @Test
    void shouldListenWithAllProvidersAndDriveThemUntilARequestIsAccepted() {
        table.progress();
        assertThat(near.endpoint.passes + far.endpoint.passes).as("nothing to do").isZero();
        table.listen(PORT);
        assertThat(near.endpoint.ports).containsExactly(PORT);
        assertThat(far.endpoint.ports).containsExactly(PORT);
        table.progress();
        table.arm();
        table.disarm();
        assertThat(List.of(near.endpoint.passes, far.endpoint.passes)).containsExactly(1, 1);
        assertThat(List.of(near.endpoint.arms, far.endpoint.arms)).containsExactly(1, 1);
        assertThat(List.of(near.endpoint.disarms, far.endpoint.disarms)).containsExactly(1, 1);

        FakeRequest first = far.endpoint.request();
        FakeRequest second = near.endpoint.request();
        assertThat(requests).hasSize(2);
        RdmaConnection accepted = table.accept(requests.getFirst(), new byte[] {1});

        assertThat(accepted.selected()).isSameAs(first.accepted);
        assertThat(near.endpoint.closed).as("of the other provider").isTrue();
        assertThat(second.ended).isTrue();
        assertThat(requests.get(1).isPending()).isFalse();
        table.progress();
        assertThat(List.of(near.endpoint.passes, far.endpoint.passes)).containsExactly(1, 2);
        table.listen(PORT + 1);
        assertThat(far.endpoint.ports).containsExactly(PORT, PORT + 1);
        assertThat(near.endpoint.ports).containsExactly(PORT);
        table.stopListening(PORT);
        assertThat(far.endpoint.ports).containsExactly(PORT + 1);
    }

    /** It may cost a search. */
    @Test
    void shouldNotAskAProviderThatIsLeftOutForItsMessageBeforeSomeoneReadsIt() {
        AtomicInteger asked = new AtomicInteger();
        far.endpoint.defect =
                new DpuException(Status.ALREADY_EXIST, "held") {
                    @Override
                    public String getMessage() {
                        return "asked=" + asked.incrementAndGet();
                    }
                };
        table.listen(PORT);
        assertThat(asked).hasValue(0);
        assertThat(table.describeAwaited()).contains("asked=1");
    }

    @Test
    void shouldListenWithoutAProviderThatCannot() {
        far.endpoint.refusal = Status.ALREADY_EXIST;
        table.listen(PORT);
        assertThat(near.endpoint.ports).containsExactly(PORT);
        table.progress();
        assertThat(List.of(near.endpoint.passes, far.endpoint.passes)).containsExactly(1, 0);
        assertThat(table.describeAwaited())
                .contains("ports=[13579]")
                .contains("leftOut=[fake2: ALREADY_EXIST: told to: refusal=ALREADY_EXIST]");

        far.endpoint.refusal = Status.SUCCESS;
        table.stopListening(PORT);
        table.listen(PORT);
        assertThat(far.endpoint.ports).containsExactly(PORT);
        assertThat(table.describeAwaited()).doesNotContain("leftOut");
    }

    @Test
    void shouldRefuseAPortOnWhichNoneCanListen() {
        near.endpoint.refusal = Status.ALREADY_EXIST;
        far.endpoint.refusal = Status.NO_MEMORY;
        assertRefused(
                () -> table.listen(PORT),
                Status.ALREADY_EXIST,
                "port=13579, tried=[fake1: ALREADY_EXIST: told to: refusal=ALREADY_EXIST, fake2:"
                        + " NO_MEMORY: told to: refusal=NO_MEMORY]");
        assertRefused(() -> table.stopListening(PORT), Status.NOT_FOUND, "ports=[]");

        near.endpoint.refusal = Status.SUCCESS;
        table.listen(PORT);
        assertThat(near.endpoint.ports).containsExactly(PORT);
    }

    @Test
    void shouldReleaseAPortIfAProviderFailsByADefect() {
        far.endpoint.defect = new IllegalStateException("a defect");
        assertThatThrownBy(() -> table.listen(PORT)).isSameAs(far.endpoint.defect);
        assertThat(near.endpoint.ports).isEmpty();
    }

    @Test
    void shouldChooseTheProviderOfAName(SoftDpu card) {
        DeviceInfo device = card.targetDevice().info();
        List<RdmaProvider> both = List.of(near, far);
        assertThat(Providers.chosen(both, device, "call=setProvider", Rdma.ANY_PROVIDER))
                .containsExactly(near, far);
        assertThat(Providers.chosen(both, device, "call=setProvider", "fake2"))
                .containsExactly(far);
        assertRefused(
                () -> Providers.chosen(both, device, "call=setProvider", "pigeon"),
                Status.NOT_FOUND,
                "call=setProvider, provider=pigeon, device="
                        + device.pciAddress()
                        + ", expected=auto or one of [fake1, fake2]");
    }

    @Test
    void shouldSayWhichProviderMayBeMeant(SoftDpu card) {
        DeviceInfo device = card.targetDevice().info();
        assertRefused(
                () -> Providers.chosen(List.of(near, far), device, "option=--provider", "fale2\n"),
                Status.NOT_FOUND,
                "option=--provider, provider=fale2\\n, device="
                        + device.pciAddress()
                        + ", expected=auto or one of [fake1, fake2]; did you mean fake2");
    }

    @Test
    void shouldChooseTheProviderThatTheEnvironmentNames(SoftDpu card) {
        DeviceInfo device = card.targetDevice().info();
        List<RdmaProvider> both = List.of(near, far);
        for (String all : Arrays.asList(null, "", Rdma.ANY_PROVIDER)) {
            assertThat(Providers.ofEnvironment(both, device, all)).containsExactly(near, far);
        }
        assertThat(Providers.ofEnvironment(both, device, "fake2")).containsExactly(far);
        assertRefused(
                () -> Providers.ofEnvironment(both, device, "ib"),
                Status.NOT_FOUND,
                "variable=SOFTDPU_RDMA_PROVIDER, provider=ib, device="
                        + device.pciAddress()
                        + ", expected=auto or one of [fake1, fake2]");
    }

    @Test
    void shouldUseTheChosenProviderAlone() {
        FakeProvider only = new FakeProvider(2);
        ConnectionTable forced = newTable(only);
        RdmaConnection connection = forced.export(Permissions.LOCAL_READ_ONLY);
        RdmaConnection ofBoth = table.export(Permissions.LOCAL_READ_ONLY);
        assertThat(ConnectionBlob.decode(connection.blob()).providerNames())
                .containsExactly("fake2");

        table.connect(ofBoth, connection.blob());
        assertThat(ofBoth.provider()).as("what the peer has").isEqualTo("fake2");
        byte[] ofNear =
                new ConnectionBlob(
                                Permissions.LOCAL_READ_ONLY,
                                List.of(new ConnectionBlob.Section(1, "fake1", NO_DATA)))
                        .encode();
        assertRefused(
                () -> forced.connect(connection, ofNear),
                Status.NOT_SUPPORTED,
                "here=[fake2], peer=[fake1]");
        only.endpoint.refusal = Status.NOT_SUPPORTED;
        assertRefused(
                () -> forced.listen(PORT), Status.NOT_SUPPORTED, "told to: refusal=NOT_SUPPORTED");
        forced.close();
    }

    @Test
    void shouldUseTheFirstProviderWhoseEndpointReachesThePeer() {
        near.endpoint.unreaching = true;
        RdmaConnection connection = table.export(Permissions.LOCAL_READ_ONLY);
        table.connect(connection, connection.blob());
        assertThat(connection.provider()).isEqualTo("fake2");

        far.endpoint.unreaching = true;
        RdmaConnection another = table.export(Permissions.LOCAL_READ_ONLY);
        assertRefused(
                () -> table.connect(another, connection.blob()),
                Status.NOT_SUPPORTED,
                "here=[fake1, fake2], peer=[fake1, fake2]");
        assertThat(another.state()).isEqualTo(RdmaConnection.State.EXPORTED);
    }

    @Test
    void shouldSelectNoProviderThatRefusesThePeer() {
        RdmaConnection connection = table.export(Permissions.LOCAL_READ_ONLY);
        RdmaConnection requested = table.connect(ADDRESS, NO_DATA); // by the first
        FakeConnection ofFar = far.endpoint.made.getFirst();
        ofFar.refusal = Status.ALREADY_EXIST;
        byte[] blob = newTable(new FakeProvider(2)).export(Permissions.LOCAL_READ_ONLY).blob();

        assertRefused(
                () -> table.connect(connection, blob), Status.ALREADY_EXIST, "told to: refusal=");
        assertThat(connection.state()).isEqualTo(RdmaConnection.State.EXPORTED);
        assertThat(connection.selected()).isNull();
        assertThat(requested.state()).isEqualTo(RdmaConnection.State.CONNECTING);
        assertThat(near.endpoint.closed).isFalse();

        ofFar.refusal = Status.SUCCESS;
        table.connect(connection, blob);
        assertThat(connection.provider()).isEqualTo("fake2");
        assertThat(requested.state()).isEqualTo(RdmaConnection.State.FAILED);
    }

    @Test
    void shouldStartWithoutAProviderThatCannotBeOpened() {
        FakeProvider closed = new FakeProvider(1);
        FakeProvider open = new FakeProvider(2);
        closed.refusal = Status.OPERATING_SYSTEM;
        ConnectionTable other = newTable(closed, open);

        RdmaConnection connection = other.export(Permissions.LOCAL_READ_ONLY);
        assertThat(connection.providerConnection(0)).isNull();
        byte[] ofClosed =
                new ConnectionBlob(
                                Permissions.LOCAL_READ_ONLY,
                                List.of(new ConnectionBlob.Section(1, "fake1", NO_DATA)))
                        .encode();
        assertRefused(
                () -> other.connect(connection, ofClosed),
                Status.NOT_SUPPORTED,
                "peer=[fake1], leftOut=[fake1: OPERATING_SYSTEM: told to:"
                        + " refusal=OPERATING_SYSTEM]");
        other.listen(PORT);
        assertThat(other.describeAwaited()).contains("of connection 1");
        other.connect(connection, connection.blob());
        assertThat(connection.provider()).isEqualTo("fake2");
        other.close();
        assertThat(open.endpoint.closed).isTrue();
    }

    @Test
    void shouldNotStartIfNoProviderCanBeOpened() {
        FakeProvider first = new FakeProvider(1);
        FakeProvider second = new FakeProvider(2);
        first.refusal = Status.NOT_SUPPORTED;
        second.refusal = Status.OPERATING_SYSTEM;
        assertRefused(
                () -> newTable(first, second),
                Status.OPERATING_SYSTEM,
                "tried=[fake1: NOT_SUPPORTED: told to: refusal=NOT_SUPPORTED, fake2:"
                        + " OPERATING_SYSTEM: told to: refusal=OPERATING_SYSTEM]");
        assertThatThrownBy(() -> newTable(second))
                .as("the failure of the only one, as it is")
                .hasMessage("told to: refusal=OPERATING_SYSTEM");
    }

    @Test
    void shouldCloseTheOthersIfAProviderFailsByADefect() {
        FakeProvider first = new FakeProvider(1);
        FakeProvider second = new FakeProvider(2);
        second.defect = new IllegalStateException("a defect");
        assertThatThrownBy(() -> newTable(first, second)).isSameAs(second.defect);
        assertThat(first.endpoint.closed).isTrue();
    }

    @Test
    void shouldExportWithoutAProviderThatCannot() {
        near.endpoint.refusal = Status.NO_MEMORY;
        RdmaConnection connection = table.export(Permissions.LOCAL_READ_ONLY);
        assertThat(ConnectionBlob.decode(connection.blob()).providerNames())
                .containsExactly("fake2");

        near.endpoint.refusal = Status.SUCCESS;
        RdmaConnection ofBoth = table.export(Permissions.LOCAL_READ_ONLY);
        assertThat(ConnectionBlob.decode(ofBoth.blob()).providerNames())
                .containsExactly("fake1", "fake2");
        table.connect(connection, ofBoth.blob());
        assertThat(connection.provider()).isEqualTo("fake2");
    }

    @Test
    void shouldCloseTheConnectionOfAProviderThatCannotSayWhereItIs() {
        near.endpoint.withoutDetails = true;
        RdmaConnection connection = table.export(Permissions.LOCAL_READ_ONLY);
        assertThat(near.endpoint.made.getFirst().closed).isTrue();
        assertThat(connection.providerConnection(0)).isNull();
        assertThat(connection.providerConnection(1)).isNotNull();
    }

    @Test
    void shouldNotExportIfNoProviderCan() {
        near.endpoint.refusal = Status.NO_MEMORY;
        far.endpoint.refusal = Status.FULL;
        for (int i = 0; i < 4; i++) { // more than there is room for
            assertRefused(
                    () -> table.export(Permissions.LOCAL_READ_ONLY),
                    Status.NO_MEMORY,
                    "tried=[fake1: NO_MEMORY: told to: refusal=NO_MEMORY, fake2: FULL: told to:"
                            + " refusal=FULL]");
        }
    }

    @Test
    void shouldConnectWithoutAProviderThatCannot() {
        near.endpoint.refusal = Status.NO_MEMORY;
        RdmaConnection connection = table.connect(ADDRESS, NO_DATA);
        table.ended(far.endpoint.made.getFirst(), Status.NOT_FOUND, "nothing listens");
        assertThat(connection.state()).isEqualTo(RdmaConnection.State.FAILED);
        assertThat(connection.failure()).isEqualTo(Status.NO_MEMORY);
        assertThat(connection.failureReason())
                .contains(
                        "tried=[fake1: NO_MEMORY: told to: refusal=NO_MEMORY, fake2: NOT_FOUND:"
                                + " nothing listens]");
    }

    @Test
    void shouldNotConnectIfNoProviderCan() {
        near.endpoint.refusal = Status.NOT_SUPPORTED;
        far.endpoint.refusal = Status.ALREADY_EXIST;
        assertRefused(
                () -> table.connect(ADDRESS, NO_DATA),
                Status.ALREADY_EXIST,
                "tried=[fake1: NOT_SUPPORTED: told to: refusal=NOT_SUPPORTED, fake2:"
                        + " ALREADY_EXIST: told to: refusal=ALREADY_EXIST]");
    }

    private static void assertRefused(ThrowingCallable call, Status status, String text) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        DpuException.class, e -> assertThat(e.status()).isEqualTo(status))
                .hasMessageContaining(text);
    }

    private ConnectionTable newTable(RdmaProvider... providers) {
        return new ConnectionTable(rdma, rdma.endpointConfig(), List.of(providers));
    }

    @Test
    void shouldRequestFromTheFirstProviderThatReachesTheAddress() {
        near.endpoint.refusal = Status.NOT_SUPPORTED;
        RdmaConnection connection = table.connect(ADDRESS, new byte[] {7});

        assertThat(near.endpoint.made).isEmpty();
        FakeConnection made = far.endpoint.made.getFirst();
        assertThat(made.requested).isEqualTo("192.0.2.1:13579 [7]");
        table.progress();
        assertThat(List.of(near.endpoint.passes, far.endpoint.passes)).containsExactly(0, 1);
        assertThat(connection.selected()).as("no answer yet").isNull();
        assertThat(near.endpoint.closed).isFalse();

        Permissions granted = Permissions.LOCAL_READ_WRITE;
        table.accepted(made, granted, new byte[] {8});
        assertThat(connection.selected()).isSameAs(made);
        assertThat(connection.peerPermissions()).isEqualTo(granted);
        assertThat(connection.peerPrivateData()).containsExactly(8);
        assertThat(near.endpoint.closed).isTrue();
        table.established(made);
        assertThat(connection.state()).isEqualTo(RdmaConnection.State.CONNECTED);
    }

    @Test
    void shouldCountAsItsProviderDoesOnceThatIsSelectedAndAfterItsEnd() {
        RdmaConnection connection = table.connect(ADDRESS, NO_DATA);
        FakeConnection made = near.endpoint.made.getFirst();
        made.counters.put("sent_packets", 2L);
        made.counters.put("naks", 1L);
        assertThat(connection.counters()).as("no answer yet").isEmpty();
        table.accepted(made, Permissions.LOCAL_READ_ONLY, NO_DATA);

        Map<String, Long> before = connection.counters();
        made.counters.put("sent_packets", 3L);
        assertThat(before)
                .as("a snapshot, in the order of the provider")
                .containsExactly(Map.entry("sent_packets", 2L), Map.entry("naks", 1L));
        assertThatThrownBy(() -> before.put("naks", 2L))
                .isInstanceOf(UnsupportedOperationException.class);
        table.established(made);
        table.ended(made, Status.SUCCESS, "");
        assertThat(connection.counters())
                .as("after its end")
                .containsExactly(Map.entry("sent_packets", 3L), Map.entry("naks", 1L));
    }

    @Test
    void shouldAskTheNextProviderWhereNothingListensForTheFirst() {
        RdmaConnection connection = table.connect(ADDRESS, new byte[] {7});
        FakeConnection first = near.endpoint.made.getFirst();
        assertThat(far.endpoint.made).isEmpty();

        table.ended(first, Status.NOT_FOUND, "nothing listens");

        assertThat(first.closed).isTrue();
        assertThat(connection.state()).isEqualTo(RdmaConnection.State.CONNECTING);
        FakeConnection second = far.endpoint.made.getFirst();
        assertThat(second.requested).isEqualTo("192.0.2.1:13579 [7]");
        table.accepted(second, Permissions.LOCAL_READ_ONLY, NO_DATA);
        assertThat(connection.selected()).isSameAs(second);
    }

    @Test
    void shouldFailWithoutASelectionWhereNothingListensForAny() {
        RdmaConnection connection = table.connect(ADDRESS, NO_DATA);
        table.ended(near.endpoint.made.getFirst(), Status.NOT_FOUND, "first");
        table.ended(far.endpoint.made.getFirst(), Status.NOT_FOUND, "second");

        assertThat(connection.state()).isEqualTo(RdmaConnection.State.FAILED);
        assertThat(connection.failure()).isEqualTo(Status.NOT_FOUND);
        assertThat(connection.failureReason())
                .isEqualTo(
                        "no RDMA provider has connected: address="
                                + ADDRESS
                                + ", tried=[fake1: NOT_FOUND: first, fake2: NOT_FOUND: second]");
        assertThat(near.endpoint.closed || far.endpoint.closed).isFalse();
        assertThat(table.connect(ADDRESS, NO_DATA).state())
                .isEqualTo(RdmaConnection.State.CONNECTING);
    }

    @Test
    void shouldNotAskTheNextProviderAfterAnyOtherFailure() {
        for (Status status :
                List.of(Status.CONNECTION_ABORTED, Status.TIME_OUT, Status.CONNECTION_RESET)) {
            RdmaConnection connection = table.connect(ADDRESS, NO_DATA);
            table.ended(near.endpoint.made.getLast(), status, "as it is");
            assertThat(connection.state()).isEqualTo(RdmaConnection.State.FAILED);
            assertThat(connection.failure()).isEqualTo(status);
        }
        assertThat(far.endpoint.made).isEmpty();
    }

    @Test
    void shouldReportTheFailureOfTheNextProvider() {
        RdmaConnection connection = table.connect(ADDRESS, NO_DATA);
        far.endpoint.refusal = Status.NO_MEMORY;
        table.ended(near.endpoint.made.getFirst(), Status.NOT_FOUND, "nothing listens");

        assertThat(connection.state()).isEqualTo(RdmaConnection.State.FAILED);
        assertThat(connection.failure()).isEqualTo(Status.NO_MEMORY);
    }

    @Test
    void shouldRefuseAnAddressThatNoneReaches() {
        near.endpoint.refusal = Status.NOT_SUPPORTED;
        far.endpoint.refusal = Status.NOT_SUPPORTED;
        for (int i = 0; i < 4; i++) { // more than there is room for
            assertThatThrownBy(() -> table.connect(ADDRESS, NO_DATA))
                    .isInstanceOfSatisfying(
                            DpuException.class,
                            e -> assertThat(e.status()).isEqualTo(Status.NOT_SUPPORTED))
                    .hasMessageContaining("providers=[fake1, fake2]")
                    .hasMessageContaining("fake2: NOT_SUPPORTED: told to: refusal=NOT_SUPPORTED");
        }
    }

    @Test
    void shouldEndRequestsThroughProvidersThatWereNotSelected() {
        RdmaConnection slow = table.connect(ADDRESS, NO_DATA);
        table.ended(near.endpoint.made.getFirst(), Status.NOT_FOUND, "nothing listens");
        RdmaConnection quick = table.connect(ADDRESS, NO_DATA);
        table.accepted(near.endpoint.made.getLast(), Permissions.LOCAL_READ_ONLY, NO_DATA);

        assertThat(quick.state()).isEqualTo(RdmaConnection.State.CONNECTING);
        assertThat(slow.state()).isEqualTo(RdmaConnection.State.FAILED);
        assertThat(slow.failure()).isEqualTo(Status.NOT_SUPPORTED);
        assertThat(slow.failureReason()).contains("requestedFrom=fake2, selected=fake1");
        assertThat(far.endpoint.made.getFirst().closed).isTrue();
        assertThat(far.endpoint.closed).isTrue();
    }

    @Test
    void shouldLetACallbackDisconnectTheConnectionWhoseAnswerSelectsTheProvider() {
        RdmaConnection slow = connectThroughFar();
        RdmaConnection quick = table.connect(ADDRESS, NO_DATA);
        FakeConnection answered = near.endpoint.made.getLast();
        List<RdmaConnection> failed = disconnectOnFailure(quick);

        insideProgress(() -> table.accepted(answered, Permissions.LOCAL_READ_ONLY, NO_DATA));

        assertThat(failed).containsExactly(slow);
        assertThat(quick.selected()).isSameAs(answered);
        assertThat(answered.disconnecting).isTrue();
        assertThat(answered.closed).as("before its end").isFalse();
        table.ended(answered, Status.SUCCESS, "");
        assertThat(quick.state()).isEqualTo(RdmaConnection.State.DISCONNECTED);
    }

    @Test
    void shouldLetACallbackDisconnectTheConnectionWhoseBlobSelectsTheProvider() {
        RdmaConnection slow = connectThroughFar();
        RdmaConnection exported = table.export(Permissions.LOCAL_READ_ONLY);
        FakeConnection ofNear = (FakeConnection) exported.providerConnection(0);
        List<RdmaConnection> failed = disconnectOnFailure(exported);

        insideProgress(() -> table.connect(exported, exported.blob()));

        assertThat(failed).containsExactly(slow);
        assertThat(exported.selected()).isSameAs(ofNear);
        assertThat(Objects.requireNonNull(ofNear).connecting).isTrue();
        assertThat(ofNear.disconnecting).isTrue();
    }

    /** Its pass goes on after the callback, and may report more. */
    @Test
    void shouldCloseAnEndpointOfAnotherProviderAfterItsOwnProgress() {
        table.listen(PORT);
        FakeRequest ofFar = far.endpoint.request();
        List<Boolean> closed = new ArrayList<>();
        List<FakeRequest> ofNear = new ArrayList<>();
        near.endpoint.inProgress =
                () -> {
                    ofNear.add(near.endpoint.request());
                    RdmaConnection _ = table.accept(requests.getFirst(), NO_DATA);
                    closed.add(near.endpoint.closed);
                    assertThat(requests.getLast().isPending())
                            .as("of the other provider")
                            .isFalse();
                    ofNear.add(near.endpoint.request());
                };

        table.progress();

        assertThat(ofFar.accepted).isNotNull();
        assertThat(ofNear).extracting(request -> request.refused).containsExactly(true, true);
        assertThat(requests).as("reported to the program").hasSize(2);
        assertThat(closed).containsExactly(false);
        assertThat(near.endpoint.closed).isTrue();
        assertThat(List.of(near.endpoint.passes, far.endpoint.passes)).containsExactly(1, 1);
    }

    /** A connection that the far provider requests. */
    private RdmaConnection connectThroughFar() {
        RdmaConnection connection = table.connect(ADDRESS, NO_DATA);
        table.ended(near.endpoint.made.getLast(), Status.NOT_FOUND, "nothing listens");
        return connection;
    }

    /** The connections that fail, in whose callback this one is disconnected. */
    private List<RdmaConnection> disconnectOnFailure(RdmaConnection other) {
        List<RdmaConnection> failed = new ArrayList<>();
        rdma.setConnectionCallback((connection, previous, next) -> {
            if (next == RdmaConnection.State.FAILED) {
                failed.add(connection);
                table.disconnect(other);
            }
        });
        return failed;
    }

    /** Runs inside progress of the engine, where callbacks are called at once. */
    private void insideProgress(Runnable call) {
        boolean[] done = new boolean[1];
        engine.timer(
                        () -> {
                            call.run();
                            done[0] = true;
                        })
                .set(Duration.ofNanos(1));
        engine.runUntil(() -> done[0], Patience.LIMIT);
    }

    @Test
    void shouldFlushAllThatListenOrConnect() {
        table.listen(PORT);
        table.flush();
        assertThat(near.endpoint.flushed && far.endpoint.flushed).isTrue();
    }

    // ---- providers ----

    private static final class FakeProvider implements RdmaProvider {
        private final int id;
        private final FakeEndpoint endpoint = new FakeEndpoint();
        private Status refusal = Status.SUCCESS;
        private @Nullable RuntimeException defect;

        FakeProvider(int id) {
            this.id = id;
        }

        @Override
        public String name() {
            return "fake" + id;
        }

        @Override
        public int id() {
            return id;
        }

        @Override
        public boolean supports(DeviceInfo device) {
            return true;
        }

        @Override
        public ProviderLimits limits(DeviceInfo device) {
            return ProviderLimits.NONE;
        }

        @Override
        public ProviderEndpoint open(EndpointConfig config, EndpointListener listener) {
            if (refusal != Status.SUCCESS) {
                throw new DpuException(refusal, "told to: refusal=" + refusal);
            }
            if (defect != null) {
                throw defect;
            }
            endpoint.listener = listener;
            return endpoint;
        }
    }

    private static final class FakeEndpoint implements ProviderEndpoint {
        private final List<Integer> ports = new ArrayList<>();
        private final List<FakeConnection> made = new ArrayList<>();
        private final List<FakeRequest> waiting = new ArrayList<>();
        private @Nullable EndpointListener listener;
        private Status refusal = Status.SUCCESS;
        private Runnable inProgress = () -> {};
        private int passes;
        private int arms;
        private int disarms;
        private boolean flushed;
        private boolean unreaching;
        private boolean withoutDetails;
        private @Nullable RuntimeException defect;
        private boolean closed;

        /** A peer requests a connection. */
        FakeRequest request() {
            FakeRequest request = new FakeRequest();
            waiting.add(request);
            Objects.requireNonNull(listener).requested(this, request);
            return request;
        }

        private void refuseIfTold() {
            if (refusal != Status.SUCCESS) {
                throw new DpuException(refusal, "told to: refusal=" + refusal);
            }
            if (defect != null) {
                throw defect;
            }
        }

        @Override
        public boolean reaches(byte[] section) {
            return !unreaching;
        }

        @Override
        public ProviderConnection createConnection(Object owner) {
            refuseIfTold();
            FakeConnection connection = new FakeConnection(owner, "");
            connection.withoutDetails = withoutDetails;
            made.add(connection);
            return connection;
        }

        @Override
        public void listen(int port) {
            refuseIfTold();
            ports.add(port);
        }

        @Override
        public void stopListening(int port) {
            ports.remove(Integer.valueOf(port));
        }

        @Override
        public ProviderConnection connect(
                InetAddress address, int port, byte[] privateData, Object owner) {
            refuseIfTold();
            FakeConnection connection =
                    new FakeConnection(
                            owner,
                            address.getHostAddress()
                                    + ":"
                                    + port
                                    + " "
                                    + Arrays.toString(privateData));
            made.add(connection);
            return connection;
        }

        @Override
        public @Nullable Refusal postReceive(WorkRequest request) {
            return null;
        }

        @Override
        public boolean progress() {
            passes++;
            inProgress.run();
            return false;
        }

        @Override
        public boolean arm() {
            arms++;
            return false;
        }

        @Override
        public void ring() {
            // Nothing was submitted.
        }

        @Override
        public void disarm() {
            disarms++;
        }

        @Override
        public void flush(Status status) {
            flushed = true;
        }

        @Override
        public void close() {
            closed = true;
            waiting.forEach(request -> request.ended = true);
        }
    }

    private static final class FakeConnection implements ProviderConnection {
        private final Object owner;
        private final String requested;
        private final SequencedMap<String, Long> counters = new LinkedHashMap<>();
        private boolean connecting;
        private boolean disconnecting;
        private boolean closed;
        private boolean withoutDetails;
        private Status refusal = Status.SUCCESS;

        FakeConnection(Object owner, String requested) {
            this.owner = owner;
            this.requested = requested;
        }

        @Override
        public Object owner() {
            return owner;
        }

        @Override
        public byte[] details() {
            if (withoutDetails) {
                throw new DpuException(Status.OPERATING_SYSTEM, "no details");
            }
            return NO_DATA;
        }

        @Override
        public int pathMtuBytes() {
            return 1024;
        }

        @Override
        public SequencedMap<String, Long> counters() {
            return counters;
        }

        @Override
        public void connect(byte[] section) {
            if (refusal != Status.SUCCESS) {
                throw new DpuException(refusal, "told to: refusal=" + refusal);
            }
            connecting = true;
        }

        @Override
        public @Nullable Refusal submit(WorkRequest request) {
            return null;
        }

        @Override
        public void disconnect() {
            disconnecting = true;
        }

        @Override
        public void close() {
            closed = true;
        }
    }

    private static final class FakeRequest implements ConnectRequest {
        private boolean ended;
        private boolean refused;
        private @Nullable FakeConnection accepted;

        @Override
        public int port() {
            return PORT;
        }

        @Override
        public InetAddress peerAddress() {
            return ADDRESS.address();
        }

        @Override
        public Permissions peerPermissions() {
            return Permissions.LOCAL_READ_ONLY;
        }

        @Override
        public byte[] privateData() {
            return NO_DATA;
        }

        @Override
        public boolean hasEnded() {
            return ended;
        }

        @Override
        public ProviderConnection accept(byte[] privateData, Object owner) {
            ended = true;
            FakeConnection made = new FakeConnection(owner, "");
            accepted = made;
            return made;
        }

        @Override
        public void reject(byte[] privateData) {
            ended = true;
        }

        @Override
        public void refuse(String reason) {
            ended = true;
            refused = true;
        }
    }
}
