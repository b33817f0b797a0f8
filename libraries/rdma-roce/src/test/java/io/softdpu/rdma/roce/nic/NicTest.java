package io.softdpu.rdma.roce.nic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.linux.Errno;
import io.softdpu.linux.LinuxException;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.spi.ProviderConnection;
import io.softdpu.rdma.spi.WorkRequest;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.LogCapture;
import io.softdpu.testkit.Patience;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Thread and life of a NIC. */
class NicTest {
    private static final Gid ADDRESS = Gid.ofAddress(new byte[] {127, 99, 0, 1});
    private static final Gid OTHER_ADDRESS = Gid.ofAddress(new byte[] {127, 99, 0, 2});

    /** Programs that end at the end of their stacks, each somewhere else. */
    private static final int DEEP_PROGRAMS = 20;

    private static final long DEEP_STACK_BYTES = 256 << 10;

    private static Nic started() {
        Nic nic = Nic.open(ADDRESS, NicOptions.DEFAULTS);
        nic.start();
        return nic;
    }

    /** A kernel without IPv6 has no socket of that family: the others of the device serve. */
    @ParameterizedTest
    @CsvSource({
        "EADDRNOTAVAIL, NOT_FOUND",
        "EINVAL, NOT_FOUND",
        "EAFNOSUPPORT, NOT_FOUND",
        "EMFILE, NO_MEMORY",
        "EACCES, OPERATING_SYSTEM"
    })
    void shouldTellAnAddressThatIsAbsentFromAFailure(String errno, Status expected)
            throws ReflectiveOperationException {
        int number = Errno.class.getField(errno).getInt(null);

        DpuException failure = Nic.failure(ADDRESS, new LinuxException("socket", number, "a=b"));
        assertThat(failure.status()).isEqualTo(expected);
        assertThat(failure).hasMessageContaining("address=127.99.0.1");
    }

    /** Holds the thread of a NIC until the latch is released. */
    private static CountDownLatch hold(Nic nic) {
        CountDownLatch until = new CountDownLatch(1);
        CountDownLatch held = new CountDownLatch(1);
        nic.post(() -> {
            held.countDown();
            await(until);
        });
        await(held);
        return until;
    }

    private static void await(CountDownLatch latch) {
        try {
            if (!latch.await(Patience.NANOS, TimeUnit.NANOSECONDS)) {
                throw new IllegalStateException("not released: deadline=" + Patience.LIMIT);
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted", e);
        }
    }

    @Test
    void shouldBeDrivenFurtherAfterErrorsAtTheEndsOfTheStacksOfPrograms()
            throws InterruptedException {
        Nic nic = started();
        try (LogCapture _ = new LogCapture(NicLoop.class.getName())) {
            NicEndpoint endpoint = BareEndpoint.of(nic);
            endpoint.open();
            for (int i = 0; i < DEEP_PROGRAMS; i++) {
                Thread program =
                        new Thread(null, () -> driveToTheEnd(endpoint), "deep", DEEP_STACK_BYTES);
                program.start();
                assertThat(program.join(Patience.LIMIT)).isTrue();
                Await.byStep("a turn", () -> !endpoint.hasRequests(), () -> endpoint.drive(true));
                nic.run(() -> {});
            }
            endpoint.close();
        } finally {
            nic.release();
        }
    }

    private static void driveToTheEnd(NicEndpoint endpoint) {
        try {
            driveDeeper(endpoint);
        } catch (StackOverflowError e) {
            assertThat(e).hasNoCause();
        }
    }

    @SuppressWarnings("InfiniteRecursion") // which the stack ends
    private static void driveDeeper(NicEndpoint endpoint) {
        try {
            driveDeeper(endpoint);
        } finally {
            endpoint.drive(true); // fails until there is enough of the stack
        }
    }

    /** The services of a bare endpoint are null: none can wake its engine. */
    @Test
    void shouldTryAgainToWakeAnEngineThatCouldNotBeWoken() {
        Nic nic = started();
        try (LogCapture _ = new LogCapture(NicLoop.class.getName())) {
            NicEndpoint endpoint = BareEndpoint.of(nic);
            endpoint.open();
            endpoint.arm(false);
            nic.run(endpoint::changed);
            AtomicReference<Long> failures = new AtomicReference<>(0L);
            Await.until(
                    "further attempts",
                    () -> {
                        nic.run(() -> failures.set(nic.failures()));
                        return failures.get() > 3;
                    });
            endpoint.disarm();
            endpoint.close();
        } finally {
            nic.release();
        }
    }

    @Test
    void shouldCarryOnAfterATaskThatThrowsAnError() {
        Nic nic = started();
        try (LogCapture log = new LogCapture(NicLoop.class.getName())) {
            for (int i = 0; i < 3; i++) {
                nic.post(() -> {
                    throw new OutOfMemoryError("for the test");
                });
            }
            AtomicReference<Long> failures = new AtomicReference<>();
            nic.run(() -> failures.set(nic.failures()));
            assertThat(failures.get()).isEqualTo(3);
            assertThat(log.with("goes on after a failure: address=" + nic.gid()))
                    .as("the first and the second")
                    .hasSize(2);
        } finally {
            nic.release();
        }
    }

    @Test
    void shouldRunWhatWasPostedBeforeItsEndAlsoBehindAnError() {
        Nic nic = started();
        AtomicBoolean ran = new AtomicBoolean();
        CountDownLatch held = hold(nic);
        nic.post(() -> {
            nic.post(() -> ran.set(true));
            throw new InternalError("for the test");
        });
        Thread releasing = Thread.ofPlatform().start(nic::release);
        Await.until("a release", () -> releasing.getState() == Thread.State.WAITING);
        held.countDown();
        join(releasing);
        assertThat(ran).isTrue();
    }

    private static void join(Thread thread) {
        try {
            assertThat(thread.join(Patience.LIMIT)).as("end of %s", thread).isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted", e);
        }
    }

    /** For the export of a connection, which another provider may then connect. */
    @Test
    void shouldHaveNoDescriptorsOfASleepBeforeItsThread() throws IOException {
        Nic running = started(); // what the process opens once
        running.release();
        long before = pollers();
        Nic nic = Nic.open(ADDRESS, NicOptions.DEFAULTS);
        try {
            BareEndpoint.of(nic).open();
            assertThat(pollers()).isEqualTo(before);
            nic.start();
            assertThat(pollers()).isEqualTo(before + 1);
        } finally {
            nic.release();
        }
        assertThat(pollers()).isEqualTo(before);
    }

    private static long pollers() throws IOException {
        long number = 0;
        try (DirectoryStream<Path> all = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path each : all) {
                try {
                    number += Files.readSymbolicLink(each).toString().contains("eventpoll") ? 1 : 0;
                } catch (NoSuchFileException e) {
                    // That of the listing itself, or another that was closed meanwhile.
                }
            }
        }
        return number;
    }

    @Test
    void shouldRefuseTasksAfterItsEnd() {
        Nic nic = started();
        nic.release();
        AtomicBoolean ran = new AtomicBoolean();
        assertThatThrownBy(() -> nic.run(() -> ran.set(true)))
                .isInstanceOfSatisfying(
                        DpuException.class, e -> assertThat(e.status()).isEqualTo(Status.SHUTDOWN))
                .hasMessage("thread of the NIC has ended: address=127.99.0.1");
        assertThat(ran).isFalse();
    }

    @Test
    void shouldNotRunATaskThatWasGivenUp() {
        Nic nic = started();
        try {
            AtomicBoolean ran = new AtomicBoolean();
            CountDownLatch held = hold(nic);
            try {
                assertThatThrownBy(() -> nic.run(() -> ran.set(true), 1_000_000))
                        .isInstanceOfSatisfying(
                                DpuException.class,
                                e -> assertThat(e.status()).isEqualTo(Status.TIME_OUT))
                        .hasMessage(
                                "thread of the NIC does not answer: address=127.99.0.1,"
                                        + " timeoutMillis=1");
            } finally {
                held.countDown();
            }
            nic.run(() -> {});
            assertThat(ran).isFalse();
        } finally {
            nic.release();
        }
    }

    @Test
    void shouldHaveNoOtherAddressWaitForItsEndAndItsOwn() {
        Nic nic = started();
        CountDownLatch held = hold(nic);
        Thread releasing = Thread.ofPlatform().start(nic::release);
        CompletableFuture<Gid> reopened = new CompletableFuture<>();
        try {
            Await.until("a release", () -> releasing.getState() == Thread.State.WAITING);
            Nic other = Nic.open(OTHER_ADDRESS, NicOptions.DEFAULTS);
            other.release();
            assertThat(releasing.isAlive()).as("held").isTrue();
            Thread.ofPlatform()
                    .start(() -> {
                        try {
                            Nic next = Nic.open(ADDRESS, NicOptions.DEFAULTS);
                            reopened.complete(next.gid());
                            next.release();
                        } catch (Throwable e) {
                            reopened.completeExceptionally(e);
                        }
                    });
        } finally {
            held.countDown();
        }
        assertThat(reopened.orTimeout(Patience.SECONDS, TimeUnit.SECONDS).join())
                .as("the port of RoCE v2, which it has after the other's end")
                .isEqualTo(ADDRESS);
        join(releasing);
    }

    @ParameterizedTest
    @CsvSource({
        "SUCCESS, CONNECTION_RESET", // the peer has disconnected
        "CONNECTION_RESET, CONNECTION_RESET",
        "IO_FAILED, CONNECTION_ABORTED"
    })
    void shouldCompleteRequestsThatItHasNotGotAsThoseThatItHas(Status end, Status expected) {
        Nic nic = Nic.open(ADDRESS, NicOptions.DEFAULTS);
        try {
            NicEndpoint endpoint = BareEndpoint.of(nic);
            endpoint.open();
            NicConnection connection = endpoint.export(new Owner());
            WorkRequest before = new WorkRequest(WorkRequest.Kind.SEND, status -> {}, 1);
            WorkRequest after = new WorkRequest(WorkRequest.Kind.SEND, status -> {}, 1);

            add(connection, before);
            connection.ended(null, end, "for the test");
            add(connection, after);
            assertThat(connection.takeRequests(1)).isOne();

            assertThat(connection.completions().poll()).isSameAs(before);
            assertThat(connection.completions().status()).isEqualTo(expected);
            assertThat(connection.completions().poll()).isSameAs(after);
            assertThat(connection.completions().status()).isEqualTo(expected);
            NicEvent event = Objects.requireNonNull(endpoint.pollEvent());
            assertThat(event.what()).isEqualTo(new NicEvent.Ended(end, "for the test", expected));
            endpoint.close();
        } finally {
            nic.release();
        }
    }

    private static void add(NicConnection connection, WorkRequest request) {
        connection.requests().add(request, Status.SUCCESS);
        assertThat(connection.requests().publish()).isTrue();
    }

    /** Connection of an engine that is not there. */
    private static final class Owner implements ProviderConnection {
        @Override
        public Object owner() {
            return this;
        }

        @Override
        public byte[] details() {
            return new byte[0];
        }

        @Override
        public int pathMtuBytes() {
            return 1024;
        }

        @Override
        public void connect(byte[] section) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Refusal submit(WorkRequest request) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void disconnect() {}

        @Override
        public void close() {}
    }
}
