package io.softdpu.rdma.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.junit.SoftDpu;
import io.softdpu.junit.SoftDpuTest;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.LeakCheck;
import io.softdpu.testkit.ReplacedEpoll;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Exhausted epoll watches: the connection fails with the reason, leaves no resources, and the next
 * one is established.
 */
@SoftDpuTest(sanitized = false)
class ShmDoorbellFailureTest {

    private final List<String> thrown = new ArrayList<>();
    private Device device;
    private Device otherDevice;
    private ProgressEngine engine;
    private Rdma rdma;
    private RdmaConnection connection;
    private HostilePeer peer;

    @BeforeEach
    void open(SoftDpu card) throws Exception {
        device = card.dpuDevice();
        otherDevice = card.targetDevice();
        engine = card.engine();
        begin(); // loads what is loaded once
        end();
    }

    @AfterEach
    void close() {
        end();
    }

    /** Begins a connection whose peer has completed its part. */
    private void begin() throws Exception {
        export();
        peer.lease().hello();
    }

    private void export() {
        rdma = Rdma.create(device);
        rdma.setSendTasks(1, task -> task.free(), task -> task.free());
        engine.connect(rdma);
        rdma.start();
        connection = rdma.exportConnection();
        peer = new HostilePeer(otherDevice, connection.blob());
    }

    private void end() {
        if (rdma.state() == ContextState.STARTING || rdma.state() == ContextState.RUNNING) {
            rdma.stop();
        }
        drive("idle", () -> rdma.state() == ContextState.IDLE);
        rdma.close(); // again: nothing happens
        if (peer != null) {
            peer.close();
            peer = null;
        }
    }

    @Test
    void shouldFailAConnectionWhosePeersDoorbellCannotBeListenedFor() throws Exception {
        LeakCheck leaks = LeakCheck.begin();
        begin();
        try (ReplacedEpoll _ = new ReplacedEpoll(engine.eventHandle())) {
            rdma.connect(peer.blob(), connection);
            // Beyond two, one for each doorbell, an engine goes on with half a connection.
            drive(
                    "an end",
                    () -> connection.state() == RdmaConnection.State.FAILED || thrown.size() > 2);
        }

        assertThat(thrown).as("thrown by progress").isEmpty();
        requireNamedFailure();
        end();
        leaks.assertNothingLeft();
        requireThatTheNextOneConnects();
    }

    @Test
    void shouldFailAConnectionWhoseLeasesDoorbellCannotBeListenedFor() throws Exception {
        LeakCheck leaks = LeakCheck.begin();
        export();
        drive("nothing to do", () -> !progress());
        long hits = engine.hits();
        try (ReplacedEpoll _ = new ReplacedEpoll(engine.eventHandle())) {
            peer.lease().hello();
            drive("the lease", () -> engine.hits() > hits || !thrown.isEmpty());
        }
        rdma.connect(peer.blob(), connection);
        drive(
                "an end",
                () ->
                        connection.state() == RdmaConnection.State.FAILED
                                || connection.state() == RdmaConnection.State.CONNECTED);

        assertThat(thrown).as("thrown by progress").isEmpty();
        requireNamedFailure();
        end();
        leaks.assertNothingLeft();
        requireThatTheNextOneConnects();
    }

    private void requireNamedFailure() {
        assertThat(connection.failure()).isEqualTo(Status.OPERATING_SYSTEM);
        assertThat(connection.failureReason())
                .contains(
                        "doorbell cannot be listened for: epoll_ctl(EPOLL_CTL_ADD) failed: errno=");
        System.out.println("failed as: " + connection.failureReason());
    }

    private void requireThatTheNextOneConnects() throws Exception {
        begin();
        rdma.connect(peer.blob(), connection);
        drive("connected", () -> connection.state() == RdmaConnection.State.CONNECTED);
        end();
        assertThat(thrown).isEmpty();
    }

    /** Without a wait in the engine, whose own epoll may be replaced. */
    private void drive(String what, BooleanSupplier condition) {
        Await.until(
                what,
                () -> {
                    progress();
                    return condition.getAsBoolean();
                });
    }

    private boolean progress() {
        try {
            return engine.progress();
        } catch (RuntimeException e) {
            thrown.add(e.toString());
            return true;
        }
    }
}
