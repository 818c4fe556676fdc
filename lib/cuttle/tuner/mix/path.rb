# frozen_string_literal: true

module Cuttle
  module Tuner
    module Mix
      # Maps paths of one kind to the same name: "/posts/17?page=2" is "/posts/:id?page".
      module Path
        # Numbers, UUIDs, hexadecimal digests, and long words with digits in them, such as tokens.
        IDENTIFIER = /\A(?:\d+|\h{8}-\h{4}-\h{4}-\h{4}-\h{12}|\h{16,}|(?=[\w-]*\d)[\w-]{20,})\z/
        MANY = 12 # different words at one place of a path are slugs, not kinds

        module_function

        # [segments with :id for identifiers, sorted names of the query parameters]
        def parts(path)
          place, query = path.split("?", 2)
          segments = place.split("/", -1).drop(1).map { |word| identified(word) }
          [segments, query.to_s.split("&").map { |pair| pair[/\A[^=\[]*/] }.reject(&:empty?).uniq.sort]
        end

        # "17" and "17.json" are identifiers.
        def identified(word)
          name, dot, extension = word.partition(".")
          IDENTIFIER.match?(name) ? ":id#{dot}#{extension}" : word
        end

        # The shapes of many paths. Many different words after the same beginning are slugs.
        class Shapes
          # requests: an Array of [method, path]; a pair may occur any number of times.
          def initialize(requests)
            tree = {}
            requests.uniq.each { |method, path| grow(tree, [method, *Path.parts(path).first]) }
            @root = Place.new([tree])
          end

          # "GET /posts/:slug?page"
          def name(method, path)
            segments, parameters = Path.parts(path)
            words = walk([method, *segments])
            "#{method} /#{words.drop(1).join("/")}#{"?#{parameters.join("&")}" if parameters.any?}"
          end

          private

          def grow(tree, words)
            words.inject(tree) { |node, word| node[word] ||= {} }
          end

          # Neither the method nor the first word of a path is ever a slug.
          def walk(words)
            place = @root
            words.map.with_index do |word, depth|
              slug = depth > 1 && place.many?
              place = slug ? place.after_any : place.after(word)
              slug && word != ":id" ? ":slug" : word
            end
          end
        end

        # What follows the same beginning: the nodes of a tree of words, taken together. It is computed once, because
        # a log may have 100,000 words at one place.
        class Place
          def initialize(nodes)
            @next = Hash.new { |all, word| all[word] = [] }
            nodes.each { |node| node.each { |word, child| @next[word] << child } }
            @after = {}
          end

          def many?
            @next.length > MANY
          end

          # The Place after that word.
          def after(word)
            return NOWHERE unless @next.key?(word)

            @after[word] ||= Place.new(@next[word])
          end

          # The Place after all words.
          def after_any
            @after_any ||= Place.new(@next.values.flatten(1))
          end
        end

        NOWHERE = Place.new([])
      end
    end
  end
end
