package io.softdpu.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.perf.child.ChildReport;
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
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Errors of the roles when one of the three is stopped (SIGSTOP), and its own error when it
 * continues. Each wait has a deadline of its own; where a slow machine needs all attempts, their
 * sum is longer than what a test has by default.
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
    private static final int TIMEOUT_SECONDS = 3;

    /**
     * With this much time a session that does not do as it should is a failure: no machine starves
     * a process for so long.
     */
    private static final int MOST_TIMEOUT_SECONDS = 96;

    /** Sessions that run at the same time: nearly all of a session is waiting. */
    private static final int AT_ONCE = 3;

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
        String strategy() {
            return this == UNDER_LOAD ? "read_throughput_test" : "read_write_data_validity_test";
        }

        boolean beforeData() {
            return this == BEFORE_INIT || this == BETWEEN_INIT_AND_START;
        }

        /** So many operations that the load does not end by itself, where it must not. */
        String operations() {
            return this == UNDER_LOAD ? "1000000000000" : "100";
        }
    }

    @TempDir private Path folder;
    private int attempts;

    /** A role and the step at which it is stopped. */
    private record Cell(String victim, When when) {
        @Override
        public String toString() {
            return victim + " " + when;
        }
    }

    /** Three processes, one of which is stopped or will be. */
    private record Session(
            Cell cell,
            int timeoutSeconds,
            Path fabric,
            Path report,
            ChildProcess target,
            ChildProcess service,
            ChildProcess initiator) {

        List<ChildProcess> all() {
            return List.of(target, service, initiator);
        }

        ChildProcess frozen() {
            return all().get(ROLES.indexOf(cell.victim()));
        }

        List<ChildProcess> others() {
            List<ChildProcess> others = new ArrayList<>(all());
            others.remove(frozen());
            return others;
        }

        /** Who waits for one who waits for the frozen one has not ended before three timeouts. */
        Duration deadline() {
            return Patience.LIMIT.plusSeconds(4L * timeoutSeconds);
        }

        boolean isPaused() {
            return frozen().outputLines().contains("paused");
        }

        @Override
        public String toString() {
            return cell + ", control timeout " + timeoutSeconds + " s";
        }
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
                "cells=%d, roles=%d, moments=%d, attempts=%d"
                        .formatted(cells.size(), ROLES.size(), When.values().length, attempts));
    }

    /** All of the table; in the short form one moment for each role, the load among them. */
    private static List<Cell> cells(SeededRandom random) {
        List<Cell> all = new ArrayList<>();
        List<When> moments = new ArrayList<>(List.of(When.values()));
        Collections.shuffle(moments, new Random(random.nextLong()));
        moments.remove(When.UNDER_LOAD);
        moments.addFirst(When.UNDER_LOAD);
        List<String> roles = new ArrayList<>(ROLES);
        Collections.shuffle(roles, new Random(random.nextLong()));
        for (int i = 0; i < roles.size(); i++) {
            for (int j = 0; j < moments.size(); j++) {
                if (Soak.isLong() || i == j) {
                    all.add(new Cell(roles.get(i), moments.get(j)));
                }
            }
        }
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
                .as(
                        "%s: %s",
                        session, session.all().stream().map(ChildProcess::errorLines).toList())
                .isLessThanOrEqualTo(MOST_TIMEOUT_SECONDS);
        return timeoutSeconds;
    }

    private Session begin(Processes processes, Cell cell, int timeoutSeconds) throws IOException {
        attempts++;
        Path own =
                Files.createDirectory(
                        folder.resolve(cell.victim + "-" + cell.when + "-" + timeoutSeconds));
        Path fabric = Files.createDirectory(own.resolve("fabric"));
        Pipeline pipeline = new Pipeline(processes, fabric);
        String timeout = "" + timeoutSeconds;
        ChildProcess target =
                cell.victim.equals("target")
                        ? paused(processes, fabric, cell, timeout)
                        : pipeline.target("--volume", "memory:4MiB", "--control-timeout", timeout);
        String address = "127.0.0.1:" + Pipeline.portOf(target);
        ChildProcess service =
                cell.victim.equals("zero-copy")
                        ? paused(processes, fabric, cell, timeout, address)
                        : pipeline.service(target, "--control-timeout", timeout);
        service.awaitLine("waiting: ");
        Path report = own.resolve("report.json");
        String operations = cell.when.operations();
        ChildProcess initiator =
                cell.victim.equals("initiator")
                        ? paused(processes, fabric, cell, timeout, operations)
                        : pipeline.initiator(
                                cell.when.strategy(),
                                "--run-limit-operation-count",
                                operations,
                                "--control-timeout",
                                timeout,
                                "--report",
                                report.toString());
        return new Session(cell, timeoutSeconds, fabric, report, target, service, initiator);
    }

    private static ChildProcess paused(
            Processes processes, Path fabric, Cell cell, String timeout, String... more) {
        String pause = cell.when.pauses.get(ROLES.indexOf(cell.victim));
        return processes.start(
                JavaCommand.ofClass(PausedRole.class)
                        .withJvmOptions("-XX:TieredStopAtLevel=1")
                        .withArguments(cell.victim, pause, timeout)
                        .withArguments(more)
                        .withEnvironment("SOFTDPU_FABRIC", fabric.toString()));
    }

    /** True if it does; otherwise a peer has timed out before, which must be reported. */
    private static boolean comesToThePause(Session session) {
        Await.until(
                "paused or ended: session=" + session,
                () ->
                        session.isPaused()
                                || !session.all().stream().allMatch(ChildProcess::isAlive));
        if (session.isPaused()) {
            return true;
        }
        write(session.frozen()); // where it comes to the pause now it need not stay there
        for (ChildProcess process : session.all()) {
            process.awaitExit();
        }
        assertThat(session.all().stream().map(ChildProcess::errorLines).flatMap(List::stream))
                .as("%s", session)
                .anyMatch(line -> line.startsWith("softdpu: TIME_OUT: "));
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
        assertNothingIsLeft(session);
        return blamed;
    }

    /** Whether they have blamed the frozen one. */
    private static boolean assertOthersEnd(Session session) throws IOException {
        for (ChildProcess other : session.others()) {
            assertThat(other.awaitExit()).as("%s", session).isEqualTo(ExitCode.FAILED.code());
            assertThat(other.errorLines())
                    .as("%s: %s", session, other)
                    .anyMatch(line -> line.startsWith("softdpu: TIME_OUT: "));
        }
        assertThat(session.frozen().isAlive()).isTrue();
        boolean blamed = true;
        for (String role : ROLES) {
            blamed &= blames(session, role);
        }
        if (!blamed) {
            return false;
        }
        if (!session.cell().victim().equals("initiator")) {
            ChildReport report = ChildReport.read(session.report());
            assertThat(report.status()).isEqualTo("TIME_OUT");
            if (session.cell().when().beforeData()) {
                assertThat(report.initiator().bytesVerified()).as("%s", session).isZero();
            }
        }
        return true;
    }

    /** Whether that role has blamed the frozen one: if not, then another one, and nothing else. */
    private static boolean blames(Session session, String role) {
        String victim = session.cell().victim();
        if (role.equals(victim)) {
            return true;
        }
        String error = error(session.all().get(ROLES.indexOf(role)));
        if (error.matches(names(role, victim))) {
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

    /** The line of the error. */
    private static String error(ChildProcess process) {
        return process.errorLines().stream()
                .filter(line -> line.startsWith("softdpu: "))
                .findFirst()
                .orElse("none");
    }

    private static void goOn(ChildProcess frozen) {
        write(frozen);
        frozen.thaw();
    }

    /** Ends the pause. */
    private static void write(ChildProcess paused) {
        try {
            OutputStream input = paused.standardInput();
            input.write('\n');
            input.flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
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
