package io.softdpu.perf.pair;

import io.softdpu.perf.card.ComchPair;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.file.Path;

/** DPU's side of a measurement. Belongs to the thread that opens it. */
public interface DpuSide extends AutoCloseable {
    /**
     * Serves the host until it has gone.
     *
     * @param in lines of the host
     * @param out lines for it
     * @throws io.softdpu.core.DpuException if the host does not come or does not behave
     */
    void run(InputStream in, PrintStream out);

    @Override
    void close();

    /**
     * Opens the DPU's side.
     *
     * @param <P> the plan
     */
    interface Opener<P extends PerfPlan> {
        /**
         * Opens it.
         *
         * @param pair the devices of both sides
         * @param fabric the folder of the fabric
         */
        DpuSide open(P plan, ComchPair pair, Path fabric);
    }
}
