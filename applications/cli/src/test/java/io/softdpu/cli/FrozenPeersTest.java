package io.softdpu.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.linux.text.Text;
import io.softdpu.perf.child.ChildReport;
import io.softdpu.storage.SessionReport;
import io.softdpu.storage.initiator.StorageInitiator;
import io.softdpu.storage.workload.ExecutionStrategy;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Soak;
import io.softdpu.testkit.StartsProcesses;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Errors of the roles when one of the three, a process, is stopped (SIGSTOP), and its own error
 * when it continues. The other two are in this JVM; in one of the tests they are processes, too,
 * with the exit code, error line and report of the command.
 */
@StartsProcesses
@Tag(Soak.TAG)
class FrozenPeersTest {
    /**
     * The control timeout of the first attempt. Nearly all of the test is waiting until it has run
     * out several times, so it is short; where the machine is so slow that a session does not come
     * to the pause in it, or that one who only was starved is blamed, the next attempt has twice as
     * long.
     */
    private static final int TIMEOUT_SECONDS = 2;

    /**
     * With this much time a session that does not do as it should is a failure: no machine starves
     * a process for so long.
     */
    private static final int MOST_TIMEOUT_SECONDS = 64;

    /** Sessions that run at the same time: nearly all of a session is waiting. */
    private static final int AT_ONCE = 8;

    private static final List<String> ROLES = List.of("target", "zero-copy", "initiator");

    /** Time of the stop: the step at which each of the three roles pauses for it. */
    private enum When {
        BEFORE_INIT("INIT", "INIT", "INIT"),
        BETWEEN_INIT_AND_START("START", "START", "START"),
        UNDER_LOAD("DATA_PATH", "DATA_PATH", PausedRole.LOAD),
        AT_STOP("STOP", "STOP", "STOP"),
        AT_SHUTDOWN("SHUTDOWN", "SHUTDOWN", "SHUTDOWN");

        private final List<String> pauses;

        When(String target, String service, String initiator) {
            pauses = List.of(target, service, initiator);
        }

        /** What is verified must not count where it cannot have been. */
        ExecutionStrategy strategy() {
            return this == UNDER_LOAD
                    ? ExecutionStrategy.READ_THROUGHPUT_TEST
                    : ExecutionStrategy.READ_WRITE_DATA_VALIDITY_TEST;
        }

        boolean beforeData() {
            return this == BEFORE_INIT || this == BETWEEN_INIT_AND_START;
        }

        /** So many operations that the load does not end by itself, where it must not. */
        long operations() {
            return this == UNDER_LOAD ? 1_000_000_000_000L : 100;
        }
    }

    @TempDir private Path folder;
    private final List<Peers> begun = new ArrayList<>();
    private int attempts;

    /** A role and the step at which it is stopped. */
    private record Cell(String victim, When when) {
        @Override
        public String toString() {
            return victim + " " + when;
        }
    }

    /** A process that is stopped or will be, and its peers. */
    private record Session(
            Cell cell,
            int timeoutSeconds,
            Path fabric,
            Peers peers,
            @Nullable StorageInitiator initiator,
            ChildProcess frozen) {

        boolean isPaused() {
            return frozen.outputLines().contains("paused");
        }

        boolean hasOneEnded() {
            return !frozen.isAlive()
                    || peers.ends().values().stream().anyMatch(CompletableFuture::isDone);
        }

        /** What a peer ends with, which must be a failure. */
        DpuException failure(String role) {
            try {
                SessionReport report =
                        peers.ends().get(role).get(Patience.SECONDS, TimeUnit.SECONDS);
                throw new AssertionError(this + ": " + role + " ended with " + report);
            } catch (ExecutionException e) {
                assertThat(e.getCause()).as("%s: %s", this, role).isInstanceOf(DpuException.class);
                return (DpuException) e.getCause();
            } catch (InterruptedException | TimeoutException e) {
                throw new AssertionError(this + ": no end of " + role, e);
            }
        }

        @Override
        public String toString() {
            return cell + ", control timeout " + timeoutSeconds + " s";
        }
    }

    @AfterEach
    void closePeers() {
        begun.forEach(Peers::close);
    }

    @Test
    void shouldEndWithTimeOutWhereAPeerIsStoppedAndTheStoppedOneWhenItGoesOn(
            Processes processes, SeededRandom random) throws IOException {
        long start = System.nanoTime();
        List<Cell> cells = cells(random);
        for (int from = 0; from < cells.size(); from += AT_ONCE) {
            List<Session> running = new ArrayList<>();
            for (Cell cell : cells.subList(from, Math.min(from + AT_ONCE, cells.size()))) {
                running.add(beginAndFreeze(processes, cell, TIMEOUT_SECONDS));
            }
            for (Session session : running) {
                Session last = session;
                while (!endsByTheFrozenOne(last)) {
                    last = beginAndFreeze(processes, last.cell(), longerThan(last));
                }
            }
        }
        Soak.report(
                "frozen-peers",
                random.seed(),
                Duration.ofNanos(System.nanoTime() - start),
                Text.format(
                        "cells=%d, roles=%d, moments=%d, attempts=%d",
                        cells.size(), ROLES.size(), When.values().length, attempts));
    }

    @Test
    void shouldEndProcessesWithTimeOutWhereTheServiceIsStopped(Processes processes)
            throws IOException {
        int timeoutSeconds = TIMEOUT_SECONDS;
        while (!processesEndByTheFrozenService(processes, timeoutSeconds)) {
            timeoutSeconds *= 2;
            assertThat(timeoutSeconds).isLessThanOrEqualTo(MOST_TIMEOUT_SECONDS);
        }
    }

    /** False where one of them has timed out before the service came to its pause. */
    private boolean processesEndByTheFrozenService(Processes processes, int timeoutSeconds)
            throws IOException {
        Path own = Files.createDirectory(folder.resolve("processes-" + timeoutSeconds));
        Path fabric = Files.createDirectory(own.resolve("fabric"));
        Path report = own.resolve("report.json");
        Cell cell = new Cell("zero-copy", When.UNDER_LOAD);
        String timeout = "" + timeoutSeconds;
        Pipeline pipeline = new Pipeline(processes, fabric);
        ChildProcess target =
                pipeline.target("--volume", "memory:4MiB", "--control-timeout", timeout);
        ChildProcess frozen =
                paused(processes, fabric, cell, timeout, "127.0.0.1:" + Pipeline.portOf(target));
        frozen.awaitLine("waiting: ");
        ChildProcess initiator =
                pipeline.initiator(
                        "read_throughput_test",
                        "--run-limit-operation-count",
                        "" + cell.when().operations(),
                        "--control-timeout",
                        timeout,
                        "--report",
                        report.toString());
        Peers none = new Peers(fabric, Duration.ofSeconds(timeoutSeconds));
        Session session = new Session(cell, timeoutSeconds, fabric, none, null, frozen);
        List<ChildProcess> all = List.of(target, frozen, initiator);
        Await.until(
                "paused or ended: session=" + session,
                () -> session.isPaused() || !all.stream().allMatch(ChildProcess::isAlive));
        if (!session.isPaused()) {
            write(frozen); // where it comes to the pause now it need not stay there
            all.forEach(ChildProcess::awaitExit);
            assertThat(all.stream().map(ChildProcess::errorLines).flatMap(List::stream))
                    .as("%s", session)
                    .anyMatch(line -> line.startsWith("softdpu: TIME_OUT: "));
            return false;
        }
        frozen.freeze();
        for (ChildProcess other : List.of(target, initiator)) {
            assertThat(other.awaitExit()).as("%s", session).isEqualTo(ExitCode.FAILED.code());
            assertThat(other.errorLines())
                    .as("%s: %s", session, other)
                    .anyMatch(line -> line.startsWith("softdpu: TIME_OUT: "));
        }
        assertThat(frozen.isAlive()).isTrue();
        assertThat(ChildReport.read(report).status()).isEqualTo("TIME_OUT");
        goOn(frozen);
        assertFrozenOneEnds(session);
        assertNothingIsLeft(session);
        return true;
    }

    /** All of the table, in any order. */
    private static List<Cell> cells(SeededRandom random) {
        List<Cell> all = new ArrayList<>();
        for (String role : ROLES) {
            for (When moment : When.values()) {
                all.add(new Cell(role, moment));
            }
        }
        Collections.shuffle(all, new Random(random.nextLong()));
        return all;
    }

    /** With this timeout, or with as long a one as it takes to come to the pause. */
    private Session beginAndFreeze(Processes processes, Cell cell, int timeoutSeconds)
            throws IOException {
        Session session = begin(processes, cell, timeoutSeconds);
        while (!comesToThePause(session)) {
            session = begin(processes, cell, longerThan(session));
        }
        session.frozen().freeze();
        return session;
    }

    private static int longerThan(Session session) {
        int timeoutSeconds = 2 * session.timeoutSeconds();
        assertThat(timeoutSeconds)
                .as("%s: %s, %s", session, session.peers(), session.frozen().errorLines())
                .isLessThanOrEqualTo(MOST_TIMEOUT_SECONDS);
        return timeoutSeconds;
    }

    private Session begin(Processes processes, Cell cell, int timeoutSeconds) throws IOException {
        attempts++;
        Path fabric =
                Files.createDirectory(
                        folder.resolve(cell.victim + "-" + cell.when + "-" + timeoutSeconds));
        Peers peers = new Peers(fabric, Duration.ofSeconds(timeoutSeconds));
        begun.add(peers);
        String timeout = "" + timeoutSeconds;
        String victim = cell.victim;
        long operations = cell.when.operations();
        ChildProcess frozen = null;
        StorageInitiator initiator = null;
        int port;
        if (victim.equals("target")) {
            frozen = paused(processes, fabric, cell, timeout);
            port = Pipeline.portOf(frozen);
        } else {
            port = peers.target();
        }
        if (victim.equals("zero-copy")) {
            frozen = paused(processes, fabric, cell, timeout, "127.0.0.1:" + port);
            frozen.awaitLine("waiting: ");
        } else {
            peers.service(port);
        }
        if (victim.equals("initiator")) {
            frozen = paused(processes, fabric, cell, timeout, "" + operations);
        } else {
            initiator = peers.initiator(cell.when.strategy(), operations);
        }
        return new Session(cell, timeoutSeconds, fabric, peers, initiator, frozen);
    }

    private static ChildProcess paused(
            Processes processes, Path fabric, Cell cell, String timeout, String... more) {
        String pause = cell.when.pauses.get(ROLES.indexOf(cell.victim));
        return processes.start(
                JavaCommand.ofClass(PausedRole.class)
                        .withArguments(cell.victim, pause, timeout)
                        .withArguments(more)
                        .withEnvironment("SOFTDPU_FABRIC", fabric.toString()));
    }

    /** True if it does; otherwise a peer has timed out before, which must be reported. */
    private static boolean comesToThePause(Session session) {
        Await.until(
                "paused or ended: session=" + session,
                () -> session.isPaused() || session.hasOneEnded());
        if (session.isPaused()) {
            return true;
        }
        write(session.frozen()); // where it comes to the pause now it need not stay there
        session.frozen().awaitExit();
        List<Status> reasons = new ArrayList<>();
        session.peers()
                .ends()
                .keySet()
                .forEach(role -> reasons.add(session.failure(role).status()));
        assertThat(
                        reasons.contains(Status.TIME_OUT)
                                || session.frozen().errorLines().stream()
                                        .anyMatch(line -> line.startsWith("softdpu: TIME_OUT: ")))
                .as("%s: %s, %s", session, reasons, session.frozen().errorLines())
                .isTrue();
        return false;
    }

    /**
     * All of them end as they should; whether each of those that were not stopped says that it has
     * waited for the one that was. False where one of them was starved for so long that it was
     * blamed first.
     */
    private static boolean endsByTheFrozenOne(Session session) throws IOException {
        boolean blamed = assertOthersEnd(session);
        goOn(session.frozen());
        assertFrozenOneEnds(session);
        session.peers().close();
        assertNothingIsLeft(session);
        return blamed;
    }

    /** Whether they have blamed the frozen one. */
    private static boolean assertOthersEnd(Session session) {
        boolean blamed = true;
        for (String role : session.peers().ends().keySet()) {
            DpuException failure = session.failure(role);
            assertThat(failure.status()).as("%s: %s", session, role).isEqualTo(Status.TIME_OUT);
            assertThat(Errors.codeOf(failure)).isEqualTo(ExitCode.FAILED);
            blamed &= blames(session, role, failure.getMessage());
        }
        assertThat(session.frozen().isAlive()).isTrue();
        StorageInitiator initiator = session.initiator();
        if (blamed && initiator != null && session.cell().when().beforeData()) {
            assertThat(initiator.initiatorReport().bytesVerified()).as("%s", session).isZero();
        }
        return blamed;
    }

    /** Whether that role has blamed the frozen one: if not, then another one, and nothing else. */
    private static boolean blames(Session session, String role, String error) {
        if (error.matches(names(role, session.cell().victim()))) {
            return true;
        }
        assertThat(ROLES)
                .as("%s: whom %s names, which says: %s", session, role, error)
                .anyMatch(other -> !other.equals(role) && error.matches(names(role, other)));
        return false;
    }

    /** How a role names whom it has waited for. */
    private static String names(String role, String victim) {
        return switch (role) {
            case "target" -> targetNames(victim);
            case "zero-copy" -> serviceNames(victim);
            default -> initiatorNames(victim);
        };
    }

    /** Whom each has waited for: by its address, or in the words of the one between them. */
    private static String serviceNames(String victim) {
        return switch (victim) {
            case "target" -> ".*(from|peer)=tcp://127\\.0\\.0\\.1:.*";
            case "initiator" -> ".*initiator is inactive: peer=client of comch://.*";
            default -> throw new AssertionError(victim);
        };
    }

    private static String targetNames(String victim) {
        return switch (victim) {
            case "zero-copy" -> ".*zero-copy service is inactive: peer=tcp://.*";
            case "initiator" -> ".*zero-copy ended the session: reason=initiator is inactive.*";
            default -> throw new AssertionError(victim);
        };
    }

    private static String initiatorNames(String victim) {
        return switch (victim) {
            case "zero-copy" ->
                    ".*(no reply received: from=comch://|zero-copy service does not reply to"
                            + " io_messages).*";
            case "target" -> ".*(from|peer)=tcp://127\\.0\\.0\\.1:.*";
            default -> throw new AssertionError(victim);
        };
    }

    private static void goOn(ChildProcess frozen) {
        write(frozen);
        frozen.thaw();
    }

    /** Ends the pause; one that has ended already needs no more. */
    private static void write(ChildProcess paused) {
        try {
            OutputStream input = paused.standardInput();
            input.write('\n');
            input.flush();
        } catch (IOException e) {
            if (paused.isAlive()) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private static void assertFrozenOneEnds(Session session) {
        assertThat(session.frozen().awaitExit())
                .as("%s", session)
                .isEqualTo(ExitCode.FAILED.code());
        assertThat(session.frozen().errorLines())
                .as("%s", session)
                .anyMatch(line ->
                        line.matches("softdpu: (TIME_OUT|CONNECTION_RESET|NOT_CONNECTED): .*"));
    }

    /** All have ended by themselves, so there is nothing to sweep. */
    private static void assertNothingIsLeft(Session session) throws IOException {
        try (Stream<Path> left = Files.list(session.fabric())) {
            assertThat(left).as("%s", session).allMatch(file -> file.endsWith("topology"));
        }
    }
}
