/**
 * Topologies as JSON files. Start with {@link io.softdpu.topology.json.TopologyJson}, which reads
 * and writes them, provides the bundled ones, and reads the one that the environment names. An
 * illegal file is rejected with an error that names the file, the line, the field and the expected
 * value. Stateless; any thread.
 */
@NullMarked
package io.softdpu.topology.json;

import org.jspecify.annotations.NullMarked;
