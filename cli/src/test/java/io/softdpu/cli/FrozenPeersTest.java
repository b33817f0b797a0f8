package io.softdpu.cli;

import static io.softdpu.cli.Pipeline.DEADLINE;
import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.cli.child.ChildReport;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Soak;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * What the others say when one of the three is stopped (SIGSTOP), and what it says when it goes on.
 */
@Tag(Soak.TAG)
@EnabledIfSystemProperty(named = Soak.SOAK_PROPERTY, matches = "true") // waits for many seconds
class FrozenPeersTest {
    /** Long enough for three JVMs that start together on a busy machine. */
    private static final String TIMEOUT_MILLIS = "10000";

    private static final String TIMEOUT_SECONDS = "10";

    /** Sessions that run at the same time: nearly all of a session is waiting. */
    private static final int AT_ONCE = 3;

    private static final List<String> ROLES = List.of("target", "zero-copy", "initiator");

    /** When it is stopped: the step at which each of the three stands still for that. */
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

    /** Three processes of which one is frozen. */
    private record Session(
            String victim,
            When when,
            Path fabric,
            Path report,
            ChildProcess target,
            ChildProcess service,
            ChildProcess initiator) {

        ChildProcess frozen() {
            return List.of(target, service, initiator).get(ROLES.indexOf(victim));
        }

        List<ChildProcess> others() {
            List<ChildProcess> others = new ArrayList<>(List.of(target, service, initiator));
            others.remove(frozen());
            return others;
        }

        @Override
        public String toString() {
            return victim + " " + when;
        }
    }

    @Test
    void shouldEndWithTimeOutWhereAPeerIsStoppedAndTheStoppedOneWhenItGoesOn(
            Processes processes, SeededRandom random) throws IOException {
        long start = System.nanoTime();
        List<Session> cells = cells(random);
        for (int from = 0; from < cells.size(); from += AT_ONCE) {
            List<Session> running = new ArrayList<>();
            for (Session cell : cells.subList(from, Math.min(from + AT_ONCE, cells.size()))) {
                Session session = begin(processes, cell.victim(), cell.when());
                running.add(session);
                session.frozen().awaitLine("paused", DEADLINE);
                session.frozen().freeze();
            }
            for (Session session : running) {
                assertOthersEnd(session);
            }
            for (Session session : running) {
                goOn(session.frozen());
                assertFrozenOneEnds(session);
                assertNothingIsLeft(session);
            }
        }
        Soak.report(
                "frozen-peers",
                random.seed(),
                Duration.ofNanos(System.nanoTime() - start),
                "cells=%d, roles=%d, moments=%d"
                        .formatted(cells.size(), ROLES.size(), When.values().length));
    }

    /** All of the table; in the short form one moment for each role, the load among them. */
    private static List<Session> cells(SeededRandom random) {
        List<Session> all = new ArrayList<>();
        List<When> moments = new ArrayList<>(List.of(When.values()));
        Collections.shuffle(moments, new Random(random.nextLong()));
        moments.remove(When.UNDER_LOAD);
        moments.addFirst(When.UNDER_LOAD);
        List<String> roles = new ArrayList<>(ROLES);
        Collections.shuffle(roles, new Random(random.nextLong()));
        for (int i = 0; i < roles.size(); i++) {
            for (int j = 0; j < moments.size(); j++) {
                if (Soak.isLong() || i == j) {
                    all.add(
                            new Session(
                                    roles.get(i), moments.get(j), null, null, null, null, null));
                }
            }
        }
        return all;
    }

    private Session begin(Processes processes, String victim, When when) throws IOException {
        Path own = Files.createDirectory(folder.resolve(victim + "-" + when));
        Path fabric = Files.createDirectory(own.resolve("fabric"));
        Pipeline pipeline = new Pipeline(processes, fabric);
        String pause = when.pauses.get(ROLES.indexOf(victim));
        boolean frozenTarget = victim.equals("target");
        ChildProcess target =
                frozenTarget
                        ? paused(processes, fabric, victim, pause)
                        : pipeline.target(
                                "--volume", "memory:4MiB", "--control-timeout", TIMEOUT_SECONDS);
        String address = "127.0.0.1:" + Pipeline.portOf(target);
        ChildProcess service =
                victim.equals("zero-copy")
                        ? paused(processes, fabric, victim, pause, address)
                        : pipeline.service(target, "--control-timeout", TIMEOUT_SECONDS);
        service.awaitLine("waiting: ", DEADLINE);
        Path report = own.resolve("report.json");
        ChildProcess initiator =
                victim.equals("initiator")
                        ? paused(processes, fabric, victim, pause, when.operations())
                        : pipeline.initiator(
                                when.strategy(),
                                "--run-limit-operation-count",
                                when.operations(),
                                "--control-timeout",
                                TIMEOUT_SECONDS,
                                "--report",
                                report.toString());
        return new Session(victim, when, fabric, report, target, service, initiator);
    }

    private static ChildProcess paused(
            Processes processes, Path fabric, String role, String pause, String... more) {
        return processes.start(
                JavaCommand.ofClass(PausedRole.class)
                        .withJvmOptions("-XX:TieredStopAtLevel=1")
                        .withArguments(role, pause, TIMEOUT_MILLIS)
                        .withArguments(more)
                        .withEnvironment("SOFTDPU_FABRIC", fabric.toString()));
    }

    private static void assertOthersEnd(Session session) throws IOException {
        for (ChildProcess other : session.others()) {
            assertThat(other.awaitExit(DEADLINE))
                    .as("%s", session)
                    .isEqualTo(ExitCode.FAILED.code());
            assertThat(other.errorLines())
                    .as("%s: %s", session, other)
                    .anyMatch(line -> line.startsWith("softdpu: TIME_OUT: "));
        }
        assertThat(error(session.service(), session)).matches(serviceNames(session));
        assertThat(error(session.target(), session)).matches(targetNames(session));
        assertThat(error(session.initiator(), session)).matches(initiatorNames(session));
        if (!session.victim().equals("initiator")) {
            ChildReport report = ChildReport.read(session.report());
            assertThat(report.status()).isEqualTo("TIME_OUT");
            if (session.when().beforeData()) {
                assertThat(report.initiator().bytesVerified()).as("%s", session).isZero();
            }
        }
        assertThat(session.frozen().isAlive()).isTrue();
    }

    /** Whom each has waited for: by its address, or in the words of the one between them. */
    private static String serviceNames(Session session) {
        return switch (session.victim()) {
            case "target" -> ".*(from|peer)=tcp://127\\.0\\.0\\.1:.*";
            case "initiator" -> ".*initiator has fallen silent: peer=client of comch://.*";
            default -> "";
        };
    }

    private static String targetNames(Session session) {
        return switch (session.victim()) {
            case "zero-copy" -> ".*zero-copy service has fallen silent: peer=tcp://.*";
            case "initiator" -> ".*zero-copy gave the session up: reason=initiator has fallen.*";
            default -> "";
        };
    }

    private static String initiatorNames(Session session) {
        return switch (session.victim()) {
            case "zero-copy" ->
                    ".*(no reply came: from=comch://|zero-copy service answers no io_message).*";
            case "target" -> ".*(from|peer)=tcp://127\\.0\\.0\\.1:.*";
            default -> "";
        };
    }

    /** The line of the error; nothing of the one that is frozen. */
    private static String error(ChildProcess process, Session session) {
        return process == session.frozen()
                ? ""
                : process.errorLines().stream()
                        .filter(line -> line.startsWith("softdpu: "))
                        .findFirst()
                        .orElse("none");
    }

    private static void goOn(ChildProcess frozen) {
        try {
            OutputStream input = frozen.standardInput();
            input.write('\n');
            input.flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        frozen.thaw();
    }

    private static void assertFrozenOneEnds(Session session) {
        assertThat(session.frozen().awaitExit(DEADLINE))
                .as("%s", session)
                .isEqualTo(ExitCode.FAILED.code());
        assertThat(session.frozen().errorLines())
                .as("%s", session)
                .anyMatch(line ->
                        line.matches("softdpu: (TIME_OUT|CONNECTION_RESET|NOT_CONNECTED): .*"));
    }

    private static void assertNothingIsLeft(Session session) {
        Await.until(
                "no socket left: session=" + session,
                DEADLINE,
                () -> sockets(session.fabric()) == 0);
    }

    private static long sockets(Path fabric) {
        try (Stream<Path> tree = Files.walk(fabric)) {
            return tree.filter(FrozenPeersTest::isSocket).count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean isSocket(Path path) {
        try {
            Object mode = Files.getAttribute(path, "unix:mode", LinkOption.NOFOLLOW_LINKS);
            return ((int) mode & 0170000) == 0140000;
        } catch (IOException e) {
            return false; // gone since the folder was read
        }
    }
}
