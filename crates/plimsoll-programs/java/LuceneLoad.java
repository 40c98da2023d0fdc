import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.StoredField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.NIOFSDirectory;

/** What a catalogue does to its storage: documents are indexed and committed, then found again. */
public final class LuceneLoad {
    private static final int WORDS_OF_DOCUMENT = 100;
    private static final int WORDS = 50_000;
    private static final int HITS = 10;

    /** index DIRECTORY FIGURES SEED DOCUMENTS COMMIT_EVERY, or search DIRECTORY FIGURES SEED DOCUMENTS QUERIES. */
    public static void main(String[] arguments) throws IOException {
        Path figures = Path.of(arguments[2]);
        long seed = Long.parseUnsignedLong(arguments[3]);
        int documents = Integer.parseInt(arguments[4]);
        int count = Integer.parseInt(arguments[5]);
        // Files are read and written by system calls, as those of a network are.
        try (Directory directory = new NIOFSDirectory(Path.of(arguments[1]))) {
            String told = arguments[0].equals("index")
                    ? index(directory, documents, count, seed)
                    : search(directory, documents, count, seed);
            Files.write(figures, told.getBytes(StandardCharsets.UTF_8));
        }
    }

    private static String index(Directory directory, int documents, int commitEvery, long seed) throws IOException {
        IndexWriterConfig config = new IndexWriterConfig(new StandardAnalyzer());
        config.setOpenMode(IndexWriterConfig.OpenMode.CREATE);
        SplittableRandom random = new SplittableRandom(seed);
        double[] commits = new double[(documents + commitEvery - 1) / commitEvery];
        long began = System.nanoTime();
        double merge;
        try (IndexWriter writer = new IndexWriter(directory, config)) {
            for (int number = 0; number < documents; number++) {
                String text = text(random);
                Document document = new Document();
                document.add(new TextField("body", text, Field.Store.NO));
                document.add(new StoredField("stored", text));
                writer.addDocument(document);
                if ((number + 1) % commitEvery == 0 || number + 1 == documents) {
                    long before = System.nanoTime();
                    writer.commit();
                    commits[number / commitEvery] = (System.nanoTime() - before) / 1e6;
                }
            }
            long before = System.nanoTime();
            writer.forceMerge(1);
            writer.commit();
            merge = (System.nanoTime() - before) / 1e9;
        }
        Arrays.sort(commits);
        return "documents " + documents / seconds(began) + " /s\n"
                + "commit_median " + commits[commits.length / 2] + " ms\n"
                + "commit_max " + commits[commits.length - 1] + " ms\n"
                + "merge " + merge + " s\n";
    }

    private static String search(Directory directory, int documents, int queries, long seed) throws IOException {
        SplittableRandom random = new SplittableRandom(~seed);
        long began = System.nanoTime();
        try (DirectoryReader reader = DirectoryReader.open(directory)) {
            double open = (System.nanoTime() - began) / 1e6;
            if (reader.numDocs() != documents) {
                throw new IOException("of " + documents + " documents " + reader.numDocs() + " are in the index");
            }
            IndexSearcher searcher = new IndexSearcher(reader);
            long bytes = 0;
            began = System.nanoTime();
            for (int query = 0; query < queries; query++) {
                TermQuery words = new TermQuery(new Term("body", word(random)));
                for (ScoreDoc hit : searcher.search(words, HITS).scoreDocs) {
                    bytes += reader.storedFields().document(hit.doc).get("stored").length();
                }
            }
            double seconds = seconds(began);
            if (bytes == 0) {
                throw new IOException("nothing was found");
            }
            return "queries " + queries / seconds + " /s\nopen " + open + " ms\n";
        }
    }

    private static String text(SplittableRandom random) {
        StringBuilder text = new StringBuilder();
        for (int number = 0; number < WORDS_OF_DOCUMENT; number++) {
            text.append(word(random)).append(' ');
        }
        return text.toString();
    }

    /** Words are as frequent as those of a language: the one of rank n about 1/n as often as the first. */
    private static String word(SplittableRandom random) {
        long rank = (long) Math.exp(random.nextDouble() * Math.log(WORDS));
        return "w" + Long.toString(rank * 2_654_435_761L % 4_294_967_296L, 36);
    }

    private static double seconds(long began) {
        return Math.max(System.nanoTime() - began, 1) / 1e9;
    }
}
