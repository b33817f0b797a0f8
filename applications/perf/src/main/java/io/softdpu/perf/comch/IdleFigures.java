package io.softdpu.perf.comch;

import io.softdpu.perf.pair.Percentiles;

/**
 * Figures of connections without traffic.
 *
 * @param connects connections that were made and timed
 * @param connectLatencies from the start of a client until it runs
 * @param residentBytesPerConnection proportional resident bytes of both processes with the
 *     connections, less those without, by their number
 * @param ringBytesPerConnection memory of the two rings of a connection, in whole pages
 * @param imports how often memory was imported meanwhile
 */
public record IdleFigures(
        long connects,
        Percentiles connectLatencies,
        double residentBytesPerConnection,
        long ringBytesPerConnection,
        long imports) {}
