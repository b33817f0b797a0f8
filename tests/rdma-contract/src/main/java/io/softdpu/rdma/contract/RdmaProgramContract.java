package io.softdpu.rdma.contract;

import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.contract.FarProcess.FarProgram;
import io.softdpu.rdma.contract.ProgramProcess.Program;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.StartsProcesses;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;

/**
 * Base class of contract tests whose far side is in another process: one for all tests of a class,
 * and more for tests that kill theirs. At the end of a test its programs have ended without a
 * failure.
 */
@StartsProcesses
public abstract class RdmaProgramContract extends RdmaContract {
    private static @Nullable FarProcess ofClass;

    private final List<FarProcess> used = new ArrayList<>();
    private final List<FarProcess> ofTest = new ArrayList<>();

    /** For subclasses. */
    protected RdmaProgramContract() {}

    @BeforeAll
    static void startProcessOfClass(Processes processes) {
        ofClass = FarProcess.start(processes);
    }

    /** Starts a process that ends with the test; for what kills it, or needs several. */
    final FarProcess startProcess(Processes processes) {
        FarProcess started = FarProcess.start(processes);
        ofTest.add(started);
        return started;
    }

    /** Runs a program in the process of the class. */
    final FarProgram run(Program program, String... arguments) {
        FarProcess process = ofClass;
        if (process == null) {
            throw new IllegalStateException("outside a class");
        }
        return runIn(process, program, arguments);
    }

    final FarProgram runIn(FarProcess process, Program program, String... arguments) {
        List<String> words = new ArrayList<>();
        words.add(environment().getClass().getName());
        words.add(folder().toString());
        words.addAll(List.of(arguments));
        if (!used.contains(process)) {
            used.add(process);
        }
        return process.run(program, words);
    }

    /** Connects a peer, which it starts, to a program that prints its connection's blob. */
    static RdmaConnection connectTo(Peer near, FarProgram program, String connected) {
        near.start();
        RdmaConnection connection = near.rdma.exportConnection();
        near.rdma.connect(program.awaitBytes(PeerProgram.CONNECTION), connection);
        program.tell(HexFormat.of().formatHex(connection.blob()));
        Peer.drive("connection", () -> connection.state() == RdmaConnection.State.CONNECTED, near);
        program.awaitLine(connected);
        return connection;
    }

    @Override
    final void endOthers() {
        try {
            used.forEach(FarProcess::endPrograms);
        } finally {
            ofTest.forEach(FarProcess::close);
        }
    }
}
